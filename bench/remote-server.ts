/**
 * The server of a remote embedder: answers every `POST /v1/embeddings` after 50 ms, with the same vector for every text. It runs
 * in its own thread, so that it does not affect the measured event loop, and counts requests in shared memory.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { VECTOR } from "./free-embedder.js";

export const LATENCY_MS = 50;
export interface ServerData {
  readonly requests: SharedArrayBuffer;
}

const requests = new Int32Array((workerData as ServerData).requests);
const vector = JSON.stringify([...VECTOR]);

const server = createServer(async (request, response) => {
  Atomics.add(requests, 0, 1);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { input } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly input: readonly string[] };
  const data = input.map((_, index) => `{"index":${index},"embedding":${vector}}`);
  setTimeout(() => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"data":[${data.join(",")}]}`);
  }, LATENCY_MS);
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
