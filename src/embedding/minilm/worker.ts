/**
 * The entry of the embedding thread: loads the model at once (the thread is started for the first call) and answers
 * calls. If the model cannot be loaded, the thread reports why and ends; the next call starts another.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorRecord, HoldfastError, toRecord } from "../../errors.js";
import { type MiniLmDescription, MODEL_NAME, NOT_NATIVE, RUNTIME_NAME, type ThreadData } from "./choice.js";
import { InferenceQueue } from "./inference-queue.js";
import { Model, TOKENS_MAX } from "./model.js";
import { NativeGate } from "./native-gate.js";

export type Question =
  | { readonly ask: "describe" }
  | { readonly ask: "count"; readonly texts: readonly string[] }
  | { readonly ask: "embed"; readonly texts: readonly string[]; readonly urgent: boolean };

/** Messages of the main thread. Questions are answered by number; dropped ones are not answered. */
export type Order =
  | { readonly order: "answer"; readonly number: number; readonly question: Question }
  | { readonly order: "drop"; readonly number: number }
  | { readonly order: "close" };

/** Messages of this thread. */
export type Report =
  | { readonly report: "answer"; readonly number: number; readonly value: unknown }
  | { readonly report: "failure"; readonly number: number; readonly error: ErrorRecord }
  /** The model could not be loaded: no further answers. */
  | { readonly report: "unusable"; readonly error: ErrorRecord };

/** Measured on one core: native code embeds 26,000 bytes of prose per second, WebAssembly 7,000. */
const SLICE_BYTES = { node: 4_096, web: 1_024 } as const;

const port = parentPort;
if (!port) throw new Error("this module is the entry of a worker thread");

const say = (report: Report, vectors: readonly Float32Array[] = []): void =>
  port.postMessage(
    report,
    vectors.map(({ buffer }) => buffer as ArrayBuffer),
  );

const data = workerData as ThreadData;
Model.load(data, new NativeGate(data.gate)).then(serve, (error: unknown) => {
  say({ report: "unusable", error: recordOf(error) });
  process.exit(); // ends this thread only
});

function serve(model: Model): void {
  // Messages are received between two turns of the event loop.
  const queue = new InferenceQueue(
    (tokens) => model.vectorOf(tokens),
    () => new Promise((resolve) => setImmediate(resolve)),
  );
  port?.on("message", async (order: Order) => {
    if (order.order === "drop") queue.drop(order.number);
    else if (order.order === "answer") await answer(model, queue, order.number, order.question);
    else {
      await queue.stop();
      await model.release();
      port.close();
    }
  });
}

async function answer(model: Model, queue: InferenceQueue, number: number, question: Question): Promise<void> {
  try {
    if (question.ask === "describe") say({ report: "answer", number, value: descriptionOf(model) });
    else if (question.ask === "count") {
      say({ report: "answer", number, value: question.texts.map((text) => model.tokensOf(text).length) });
    } else {
      const value = await queue.add(number, model.acceptedTokensOf(question.texts), question.urgent);
      say({ report: "answer", number, value }, value);
    }
  } catch (error) {
    say({ report: "failure", number, error: recordOf(error) });
  }
}

function descriptionOf(model: Model): MiniLmDescription {
  const { dimensions, runtime } = model;
  const space = { model: MODEL_NAME, runtime: RUNTIME_NAME, dimensions };
  const isMissed = runtime === "web" && data.runtime === undefined;
  return {
    space,
    tokensMax: TOKENS_MAX,
    sliceBytes: SLICE_BYTES[runtime],
    loaded: runtime,
    ...(isMissed && { advice: `${NOT_NATIVE.what}; ${NOT_NATIVE.hint}` }),
  };
}

function recordOf(error: unknown): ErrorRecord {
  if (error instanceof HoldfastError) return toRecord(error);
  return {
    code: "embedder_failed",
    message: `the model failed: ${error instanceof Error ? error.message : String(error)}`,
    hint: "nothing was embedded; repeat the call",
  };
}
