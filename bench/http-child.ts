/** Controls the server's process. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, Told } from "./http-work.js";

export class BenchServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(path: string, maxRequests: number, preload: number): Promise<BenchServer> {
    const script = fileURLToPath(new URL("./http-server.js", import.meta.url));
    const child = fork(script, [path, String(maxRequests), String(preload)]);
    const [told] = (await once(child, "message")) as [Told & { kind: "ready" }];
    return new BenchServer(child, told.port);
  }

  async ask<K extends Order["kind"]>(order: Order & { kind: K }): Promise<Extract<Told, { kind: K }>> {
    const answer = once(this.#child, "message");
    this.#child.send(order);
    return (await answer)[0] as Extract<Told, { kind: K }>;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.send({ kind: "stop" } satisfies Order);
    await gone;
  }
}
