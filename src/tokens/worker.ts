/** The entry of a counting thread: one encoding, loaded when the thread starts. */
import { parentPort, workerData } from "node:worker_threads";
import { Encoding } from "./encoding.js";
import type { EncodingName } from "./models.js";

export interface CountingCall {
  readonly number: number;
  readonly texts: readonly string[];
}

export interface CountingAnswer {
  readonly number: number;
  readonly counts: readonly number[];
}

const port = parentPort;
if (!port) throw new Error("this module is the entry of a worker thread");

// A failure here ends the thread: pending calls are rejected, and the next call starts another thread.
void Encoding.load(workerData as EncodingName).then((encoding) => {
  port.on("message", ({ number, texts }: CountingCall) => {
    port.postMessage({ number, counts: encoding.count(texts) } satisfies CountingAnswer);
  });
});
