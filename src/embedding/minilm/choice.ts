/** Which model and runtime to use; importing this loads neither. */
import { packageFile } from "../../package-files.js";
import type { EmbedderDescription } from "../embedder.js";

export const MODEL_NAME = "all-MiniLM-L6-v2";

/** The folder of the model in the package. */
export const packagedModel = (): string => packageFile("models/all-MiniLM-L6-v2-q8");

/**
 * One name for both runtimes, so that a file can move between machines. Their rounding differs (mean cosine 0.999), and
 * mixing their vectors disturbs a ranking no more than switching from one to the other does: 97 of 100 of the top ten
 * stay.
 */
export const RUNTIME_NAME = "onnx-int8";

/** Where the native runtime is missing. */
export const NOT_NATIVE = {
  what: "the model runs on WebAssembly, six to nine times slower than native code",
  hint: "install a native runtime for this platform: npm install onnxruntime-node@1.25.1",
} as const;

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
