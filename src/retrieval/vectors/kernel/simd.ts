/** The kernel in WebAssembly with SIMD. */
import { type Kernel, type Loops, type Memory, PAGES_MAX } from "./kernel.js";
import { KERNEL_BASE64 } from "./kernel-bytes.js";

/** What is used of WebAssembly; absent where Node runs without it. */
interface Assembly {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
}

/** Compiled once for all kernels of a thread. */
let compiled: object | undefined;

/**
 * With an empty memory that may grow to so many pages. Undefined where there is no WebAssembly, or none with SIMD, or no
 * room for its memory: each takes gigabytes of addresses, of which a process may have few.
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
  const { dots, lay, copy, bounds, distances, quantise, signs, products } = exports as Loops;
  return { memory, dots, lay, copy, bounds, distances, quantise, signs, products };
}

function reserve({ Memory }: Assembly, maximum: number): Memory | undefined {
  try {
    return new Memory({ initial: 0, maximum });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
