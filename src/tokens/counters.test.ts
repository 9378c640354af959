import { describe, expect, it } from "vitest";
import { Counters } from "./counters.js";

describe("counters by name", () => {
  it("count characters, even after close", async () => {
    const counters = new Counters();
    const counter = counters.of("chars4");
    expect(counter.name).toBe("chars4");
    await counters.close();
    expect(await counter.count(["", "abcd", "abcde"])).toEqual([0, 1, 2]);
  });

  it.each(["", "chars", "CHARS4", "claude", "constructor", "__proto__"])("refuse %j, and say what there is", (name) => {
    const counters = new Counters();
    expect(() => counters.of(name)).toThrow(
      expect.objectContaining({
        name: "HoldfastError",
        code: "invalid_input",
        hint: expect.stringMatching(/"chars4".*gpt-4o.*text-embedding-3/),
        details: { counter: name },
      }),
    );
  });

  it("know the models", () => {
    expect(new Counters().of("gpt-4o-mini").name).toBe("gpt-4o-mini");
  });

  it("refuse to count for a model after close, and start nothing", async () => {
    const counters = new Counters();
    const counter = counters.of("gpt-4o-mini");
    await counters.close();
    await expect(counter.count(["late"])).rejects.toMatchObject({ code: "closed" });
  });
});
