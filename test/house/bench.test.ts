/** Benchmarks use parts of the product that are not public. A part that moves must not break them unnoticed. */
import { describe, expect, it } from "vitest";
import { loadServerParts } from "../../bench/http-product.js";
import { Workplace } from "../../bench/place.js";
import { loadTerms } from "../../bench/query-product.js";
import { Raw } from "../../bench/raw.js";
import { Recorder } from "../../bench/recording.js";
import { loadVectorParts } from "../../bench/vectors-product.js";

describe("a benchmark", () => {
  it("records what the writer runs for an add, and replays it on another file", async () => {
    const place = await Workplace.make();
    const recorder = new Recorder(place);
    const raw = new Raw(place, "same");
    try {
      const message = { role: "user" as const, content: "blue kettle" };
      const recording = await recorder.record([[{ conversation: "ada", message }]]);
      expect(recording.sql).toEqual(expect.arrayContaining(["BEGIN IMMEDIATE", "COMMIT"]));
      const replay = raw.run(recording);
      expect(replay.calls).toHaveLength(1);
    } finally {
      recorder.close();
      raw.close();
      place.remove();
    }
  });

  it("finds the other parts of the product that it uses", async () => {
    expect((await loadTerms())("blue kettle")).toEqual(["blue", "kettl"]);
    const { Mirror, PagePool, Question } = await loadVectorParts();
    expect([typeof Mirror, typeof PagePool, typeof Question]).toEqual(["function", "function", "function"]);
    const { createApp, dispatch } = await loadServerParts();
    expect([typeof createApp, typeof dispatch]).toEqual(["function", "function"]);
  });
});
