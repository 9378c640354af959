/** The embedders to compare, created for one trial. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type Embedder, MiniLmEmbedder, OpenAiEmbedder } from "holdfast/embedding";
import { FreeEmbedder } from "./free-embedder.js";
import type { ServerData } from "./remote-server.js";

/** node, web: MiniLM on onnxruntime-node and onnxruntime-web · remote: a server that takes 50 ms per request. */
export const EMBEDDER_NAMES = {
  free: "free embedder",
  node: "MiniLM, onnxruntime-node",
  web: "MiniLM, onnxruntime-web",
  remote: "remote, 50 ms",
} as const;
export type EmbedderName = keyof typeof EMBEDDER_NAMES;

export interface MadeEmbedder {
  readonly embedder: Embedder;
  /** Network requests so far; undefined for a local embedder. */
  readonly requests: () => number | undefined;
  readonly close: () => Promise<void>;
}

export async function makeEmbedder(name: EmbedderName): Promise<MadeEmbedder> {
  if (name === "remote") return makeRemote();
  const embedder = name === "free" ? new FreeEmbedder() : new MiniLmEmbedder({ runtime: name });
  return { embedder, requests: () => undefined, close: () => embedder.close() };
}

async function makeRemote(): Promise<MadeEmbedder> {
  const requests = new SharedArrayBuffer(4);
  const workerData: ServerData = { requests };
  const server = new Worker(new URL("./remote-server.js", import.meta.url), { workerData });
  const [port] = (await once(server, "message")) as [number];
  const embedder = new OpenAiEmbedder({ baseUrl: `http://127.0.0.1:${port}/v1`, model: "remote", tokensMax: 8_191 });
  return {
    embedder,
    requests: () => Atomics.load(new Int32Array(requests), 0),
    close: async () => {
      await embedder.close();
      await server.terminate();
    },
  };
}
