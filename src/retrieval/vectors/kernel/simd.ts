/** The kernel in WebAssembly with SIMD. */
import { type Kernel, type KernelMemory, type Loops, PAGES_MAX } from "./kernel.js";
import { KERNEL_BASE64 } from "./kernel-bytes.js";

/** The subset of the WebAssembly API used here. Absent if Node runs without WebAssembly. */
interface Assembly {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => KernelMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
}

/** The module is compiled once per thread and shared by its kernels. */
let compiled: object | undefined;

/**
 * A kernel with an empty memory that may grow to `pagesMax`. Undefined without WebAssembly or SIMD, or if its memory
 * cannot be reserved: each memory reserves gigabytes of address space, which may be limited.
 */
export function createSimdKernel(pagesMax: number): Kernel | undefined {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly?: Assembly };
  if (!WebAssembly) return undefined;
  if (!compiled) {
    const bytes = Buffer.from(KERNEL_BASE64, "base64");
    if (!WebAssembly.validate(bytes)) return undefined;
    compiled = new WebAssembly.Module(bytes);
  }
  const memory = reserve(WebAssembly, Math.min(pagesMax, PAGES_MAX));
  if (!memory) return undefined;
  const { exports } = new WebAssembly.Instance(compiled, { holdfast: { memory } });
  const { dots, lay, copy, bounds } = exports as Loops;
  return { memory, dots, lay, copy, bounds };
}

function reserve({ Memory }: Assembly, maximum: number): KernelMemory | undefined {
  try {
    return new Memory({ initial: 0, maximum });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
