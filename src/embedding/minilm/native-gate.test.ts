import { describe, expect, it, vi } from "vitest";
import { NativeGate } from "./native-gate.js";

describe("NativeGate", () => {
  it("lets work pass, even work that fails, and shuts at once when nothing is inside", async () => {
    const gate = new NativeGate();
    expect(await gate.pass(async () => "done")).toBe("done");
    await expect(gate.pass(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const wait = vi.spyOn(Atomics, "wait");
    gate.shut();
    expect(wait).toHaveReturnedWith("not-equal"); // there was nobody to wait for
    wait.mockRestore();
  });

  it("lets nothing in once it is shut, on either side of the shared memory", async () => {
    const gate = new NativeGate();
    const other = new NativeGate(gate.shared);
    gate.shut();
    let isIn = false;
    void other.pass(async () => {
      isIn = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    gate.shut(); // does not wait for the call that was turned away
  });
});
