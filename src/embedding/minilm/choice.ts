/** Which model and runtime to use; importing this loads neither. */
import { fileURLToPath } from "node:url";
import type { EmbedderDescription } from "../embedder.js";

export const MODEL_NAME = "all-MiniLM-L6-v2";

/** In the package. The relative path is the same from the compiled module and from its source. */
export const MODEL_FOLDER = fileURLToPath(new URL("../../../models/all-MiniLM-L6-v2-q8", import.meta.url));

/**
 * One name for both runtimes, so that a file can move between machines. Their rounding differs (mean cosine 0.999), and
 * mixing their vectors disturbs a ranking no more than switching from one to the other does: 97 of 100 of the top ten
 * stay.
 */
export const RUNTIME_NAME = "onnx-int8";

export type RuntimeName = "node" | "web";

/** The description of the model in the package. */
export interface MiniLmDescription extends EmbedderDescription {
  /** The runtime that was loaded. */
  readonly loaded: RuntimeName;
}

export interface ModelChoice {
  /** The folder of the model's files. */
  readonly folder: string;
  /** Undefined for the first that can be loaded, native before WebAssembly. */
  readonly runtime: RuntimeName | undefined;
}

/** The workerData of the embedding thread. */
export interface ThreadData extends ModelChoice {
  /** The shared memory of its NativeGate. */
  readonly gate: SharedArrayBuffer;
}
