/** Which model, and on what: known without loading anything. */
import { fileURLToPath } from "node:url";
import type { EmbedderDescription } from "../embedder.js";

export const MODEL_NAME = "all-MiniLM-L6-v2";

/** In the package, as far from the compiled module as from its source. */
export const MODEL_FOLDER = fileURLToPath(new URL("../../../models/all-MiniLM-L6-v2-q8", import.meta.url));

/**
 * One name for both runtimes, so that a file moves between machines. Their roundings differ (mean cosine 0.999), and mixing
 * them disturbs a ranking no more than changing from one to the other does: 97 of 100 of the best ten stay.
 */
export const RUNTIME_NAME = "onnx-int8";

export type RuntimeName = "node" | "web";

export interface MiniLmDescription extends EmbedderDescription {
  /** Which runtime was loaded. */
  readonly loaded: RuntimeName;
}

export interface ModelChoice {
  /** Where the model's files lie. */
  readonly folder: string;
  /** Undefined: the first that can be loaded, native before WebAssembly. */
  readonly runtime: RuntimeName | undefined;
}

/** What the embedding thread is given. */
export interface ThreadData extends ModelChoice {
  /** The memory of its NativeGate. */
  readonly gate: SharedArrayBuffer;
}
