import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ParsedQuery } from "../../input/query.js";
import type { PredictorName } from "../../options.js";
import { Entry } from "../query/answer-cache.js";
import { Prefetches } from "./prefetches.js";
import { TrackRecord } from "./track-record.js";

const ADA = { space: { user: "ada" } };

function asked(text: string): ParsedQuery {
  const question = { text, spaces: [ADA.space], filter: {}, depth: 10, bufferOnly: false, recency: 0 };
  return { question, presentation: { topK: 10, offset: 0, sortBy: "score", order: "desc" } };
}

function answered({ question }: ParsedQuery): Entry {
  const reading = { text: question.text, terms: [], refersBack: false };
  const ranking = { found: [], candidates: 0, partial: false, isClockBound: false, sources: [], reading };
  return new Entry({ key: question.text, versions: "", order: 1, question, ranking });
}

it("a full buffer evicts what the least useful predictor expects, and the oldest of that", async () => {
  const entries = new Map<string, Entry>();
  const records = new Map<PredictorName, TrackRecord>([
    ["stride", new TrackRecord(true)],
    ["topic", new TrackRecord(true)],
  ]);
  records.get("topic")?.scored(false);
  const prefetches = new Prefetches(entries, {
    maxSize: 3,
    maxBytes: 1_000_000,
    records,
    prefetch: async (_place, query) => ({ outcome: "ready", entry: answered(query) }),
    isBusy: () => false,
    tell: () => undefined,
  });
  const expectNext = async (predictor: PredictorName, text: string) => {
    prefetches.add({ id: text, predictor, place: ADA, query: asked(text) });
    prefetches.run();
    await turn();
  };
  for (const [predictor, text] of [
    ["stride", "page 1"],
    ["topic", "cats"],
    ["topic", "dogs"],
  ] as const)
    await expectNext(predictor, text);
  expect([...entries.keys()]).toEqual(["page 1", "cats", "dogs"]);
  await expectNext("stride", "page 2");
  expect([...entries.keys()]).toEqual(["page 1", "dogs", "page 2"]);
  await expectNext("stride", "page 3");
  expect([...entries.keys()]).toEqual(["page 1", "page 2", "page 3"]);
});
