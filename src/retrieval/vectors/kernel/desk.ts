/** A kernel's memory as a desk, where things lie while it works. */
import { type Kernel, PAGE_BYTES } from "./kernel.js";

/** The memory, grown to so many bytes at least. */
export function deskOf({ memory }: Kernel, bytes: number): ArrayBuffer {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  return memory.buffer;
}
