/** Blocking waits, for a storage thread or for a call that is synchronous by contract. */

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread. */
export function pause(ms: number): void {
  Atomics.wait(nobodyWakes, 0, 0, ms);
}
