/**
 * The neural network on one of two runtimes: onnxruntime-node (native, an optional dependency) or onnxruntime-web
 * (WebAssembly, runs everywhere, six to nine times slower). Both compute the same int8 model but round differently.
 *
 * It computes in one thread. On two cores, a second thread gains a tenth for short texts and a third for long ones, and
 * takes the core that the main thread and the store use.
 */
import { HoldfastError } from "../../errors.js";
import type { RuntimeName } from "./choice.js";
import type { NativeGate } from "./native-gate.js";

export interface Network {
  readonly runtime: RuntimeName;
  /** The hidden states of all tokens, concatenated. One text per run: int8 vectors depend on their batch. */
  run(ids: readonly number[]): Promise<Float32Array>;
  release(): Promise<void>;
}

/** The common interface of both runtimes. */
type Onnx = Pick<typeof import("onnxruntime-web"), "InferenceSession" | "Tensor">;

/** Level 3: errors are thrown, and no warnings are printed. */
const OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;

/** Requires the verified bytes of the model. Without `wanted`, uses the first runtime that can be loaded. */
export async function openNetwork(
  bytes: Uint8Array,
  wanted: RuntimeName | undefined,
  gate: NativeGate,
): Promise<Network> {
  const { runtime, onnx } = await loadRuntime(wanted === undefined ? ["node", "web"] : [wanted]);
  // WebAssembly can be terminated at any time; only native code needs the gate.
  const guard = <T>(work: () => Promise<T>): Promise<T> => (runtime === "node" ? gate.pass(work) : work());
  const session = await guard(() => onnx.InferenceSession.create(bytes, OPTIONS));
  return {
    runtime,
    async run(ids) {
      const filled = (value?: bigint) =>
        new onnx.Tensor(
          "int64",
          BigInt64Array.from(ids, (id) => value ?? BigInt(id)),
          [1, ids.length],
        );
      const inputs = { input_ids: filled(), attention_mask: filled(1n), token_type_ids: filled(0n) };
      const { last_hidden_state: state } = await guard(() => session.run(inputs));
      if (!(state?.data instanceof Float32Array)) throw new Error("the model gave no hidden state");
      return state.data;
    },
    release: () => guard(() => session.release()),
  };
}

/** Loads the first of these runtimes that can be loaded. */
export async function loadRuntime(names: readonly RuntimeName[]): Promise<{ runtime: RuntimeName; onnx: Onnx }> {
  const failures: string[] = [];
  for (const runtime of names) {
    try {
      return { runtime, onnx: await LOADERS[runtime]() };
    } catch (error) {
      failures.push(`onnxruntime-${runtime}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new HoldfastError("embedder_failed", `no runtime for the model can be loaded (${failures.join("; ")})`, {
    hint: `run: npm install onnxruntime-${names[0]}`,
  });
}

const LOADERS: { readonly [name in RuntimeName]: () => Promise<Onnx> } = {
  node: () => import("onnxruntime-node"),
  async web() {
    const onnx = await import("onnxruntime-web");
    onnx.env.wasm.numThreads = 1; // the .wasm file is loaded from the package's own folder
    return onnx;
  },
};
