/** Another process on the same file, as the test sees it: calls go to it, questions come from it. */
import { Child } from "../support/child.js";
import { until } from "../support/until.js";
import type { Peer, Progress } from "./peer.js";

export type Method = keyof Peer;

/** What the parent says: do this, or the answer to what you asked. */
export type Order =
  | { readonly call: number; readonly method: Method; readonly args: readonly unknown[] }
  | { readonly reply: number; readonly value: unknown };

/** What the child says: this came of your call, or a question of its own. */
export type Report =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: Refusal }
  | { readonly ask: number; readonly question: unknown };

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Arguments<M extends Method> = Parameters<Peer[M]>;
type Result<M extends Method> = Promise<Awaited<ReturnType<Peer[M]>>>;

/** A call that was refused in the other process. */
export class PeerError extends Error {
  readonly code: string;

  constructor({ code, message }: Refusal) {
    super(message);
    this.code = code;
  }
}

export class PeerProcess {
  readonly #child: Child<never, Report>;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;

  /** `onAsk` answers the questions of the process. */
  constructor(onAsk: (question: unknown) => Promise<unknown> = () => Promise.reject(new Error("nobody answers"))) {
    this.#child = new Child<never, Report>(new URL("./peer.js", import.meta.url), [], async (report) => {
      if ("ask" in report) return this.#give({ reply: report.ask, value: await onAsk(report.question) });
      const waiting = this.#waiting.get(report.answer);
      this.#waiting.delete(report.answer);
      if ("error" in report) waiting?.reject(new PeerError(report.error));
      else waiting?.resolve(report.value);
    });
    this.#child.ended.then(({ code, signal, stderr }) => {
      const error = new Error(`the process has ended (${signal ?? code}) ${stderr}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  call<M extends Method>(method: M, ...args: Arguments<M>): Result<M> {
    const call = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve: resolve as (value: unknown) => void, reject });
      this.#give({ call, method, args });
    }) as Result<M>;
  }

  /** How far its embedding is, as soon as it is as far as that. */
  async when(isFar: (progress: Progress) => boolean): Promise<Progress> {
    let progress = await this.call("progress");
    await until(async () => {
      if (isFar(progress)) return true;
      progress = await this.call("progress");
      return false;
    });
    return progress;
  }

  /** Kills it, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill();
    await this.#child.ended;
  }

  /** Holds it where it is, so that it does nothing, and knows nothing of it, until `resume`. */
  suspend(): void {
    this.#child.suspend();
  }

  resume(): void {
    this.#child.resume();
  }

  #give(order: Order): void {
    this.#child.give(order as never);
  }
}

/** Runs `work` with so many processes, which are gone afterwards. */
export async function withPeers<T>(count: number, work: (peers: readonly PeerProcess[]) => Promise<T>): Promise<T> {
  const peers = Array.from({ length: count }, () => new PeerProcess());
  try {
    return await work(peers);
  } finally {
    await Promise.all(peers.map((peer) => peer.kill()));
  }
}
