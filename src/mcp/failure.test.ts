import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { failureText } from "./failure.js";

describe("a failure in a model's answer", () => {
  it("says what is wrong and what to do next, in sentences", () => {
    const error = new HoldfastError("invalid_input", "insert needs `new`", { hint: "call it again with `new`" });
    expect(failureText(error)).toBe("Error: Insert needs `new`. Call it again with `new`.");
    expect(failureText(new HoldfastError("forbidden", "no!", { hint: "ask!" }))).toBe("Error: No! Ask!");
  });

  it("names the version that a block has now", () => {
    const error = new HoldfastError("conflict", "the block has changed", { hint: "read it", details: { version: 7 } });
    expect(failureText(error)).toBe("Error: The block has changed. Read it. It has version 7 now.");
  });

  it("says where the same call may succeed, and only there", () => {
    const again = "The same call may succeed in a moment.";
    const busy = new HoldfastError("busy", "it is busy", { hint: "wait" });
    expect(failureText(busy)).toBe(`Error: It is busy. Wait. ${again}`);
    expect(failureText(new HoldfastError("not_found", "it is gone"))).not.toContain(again);
  });

  it("hides foreign errors, causes and details, because they may quote stored text", () => {
    for (const error of [new Error("SECRET"), "SECRET", undefined, { message: "SECRET" }]) {
      expect(failureText(error)).not.toContain("SECRET");
      expect(failureText(error)).toContain("tell the user");
    }
    const cause = new Error("SECRET");
    const error = new HoldfastError("store_failed", "it failed", {
      cause,
      details: { version: "SECRET", x: "SECRET" },
    });
    expect(failureText(error)).not.toContain("SECRET");
  });
});
