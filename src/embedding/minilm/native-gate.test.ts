import { describe, expect, it } from "vitest";
import { NativeGate } from "./native-gate.js";

describe("NativeGate", () => {
  it("lets work pass, also work that fails, and is shut at once when nobody is inside", async () => {
    const gate = new NativeGate();
    expect(await gate.pass(async () => "done")).toBe("done");
    await expect(gate.pass(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const before = performance.now();
    gate.shut();
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it("lets nobody in once it is shut, on either side of the shared memory", async () => {
    const gate = new NativeGate();
    const other = new NativeGate(gate.shared);
    gate.shut();
    let isIn = false;
    void other.pass(async () => {
      isIn = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    gate.shut(); // does not wait for the one that was turned away
  });
});
