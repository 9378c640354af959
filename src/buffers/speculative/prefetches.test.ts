import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ParsedQuery } from "../../input/query.js";
import type { PredictorName } from "../../options.js";
import { AnswerEntry } from "../query/answer-cache.js";
import { Confidence } from "./confidence.js";
import { Prefetches, type PrefetchesOptions } from "./prefetches.js";
import { TrackRecord } from "./track-record.js";

const ADA = { space: { user: "ada" } };

function asked(text: string): ParsedQuery {
  const question = { text, spaces: [ADA.space], filter: {}, depth: 10, bufferOnly: false, recency: 0 };
  return { question, presentation: { topK: 10, offset: 0, sortBy: "score", order: "desc" } };
}

function answered({ question }: ParsedQuery): AnswerEntry {
  const reading = { text: question.text, terms: [], refersBack: false };
  const ranking = { found: [], candidates: 0, partial: false, isClockBound: false, sources: [], reading };
  return new AnswerEntry({ key: question.text, versions: "", order: 1, question, ranking });
}

/** Prefetches for a trusted `stride` and `topic`, with the answers that they hold. */
function holding(prefetch: PrefetchesOptions["prefetch"], records = trusted()) {
  const entries = new Map<string, AnswerEntry>();
  const options = { maxSize: 3, maxBytes: 1_000_000, records, prefetch, isBusy: () => false, tell: () => undefined };
  const prefetches = new Prefetches(entries, options);
  const expectNext = async (predictor: PredictorName, text: string) => {
    prefetches.add({ id: text, predictor, place: ADA, query: asked(text) });
    prefetches.run();
    await turn();
  };
  return { entries, prefetches, expectNext };
}

const trusted = () =>
  new Map<PredictorName, TrackRecord>([
    ["stride", new TrackRecord(true)],
    ["topic", new TrackRecord(true)],
  ]);

it("a full buffer evicts what the least useful predictor expects, and the oldest of that", async () => {
  const records = trusted();
  records.get("topic")?.scored(false);
  const { entries, expectNext } = holding(
    async (_place, query) => ({ outcome: "ready", entry: answered(query) }),
    records,
  );
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

it("a search that a write had stopped waited for the next call", async () => {
  let searches = 0;
  const { entries, expectNext } = holding(async (_place, query) =>
    ++searches === 1 ? { outcome: "stopped" } : { outcome: "ready", entry: answered(query) },
  );
  await expectNext("stride", "page 1");
  expect([...entries.keys()]).toEqual(["page 1"]);
});

it("a guess that came back while its cancelled search ended was not searched", async () => {
  const ends: (() => void)[] = [];
  const { entries, prefetches, expectNext } = holding(async (_place, query) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return { outcome: "ready", entry: answered(query) };
  });
  await expectNext("topic", "cats");
  prefetches.cancel("cats");
  await expectNext("topic", "cats");
  for (let search = 0; search < 2; search++) {
    ends[search]?.();
    await turn();
  }
  expect([...entries.keys()]).toEqual(["cats"]);
});

it("two searches run at a time, the likeliest guess's first", async () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const { prefetches } = holding(async (_place, query) => {
    started.push(query.question.text);
    await new Promise<void>((resolve) => ends.push(resolve));
    return { outcome: "ready", entry: answered(query) };
  });
  const confidence = new Confidence();
  for (const text of ["page 1", "page 2", "page 3"])
    prefetches.add({ id: text, predictor: "stride", place: ADA, query: asked(text), confidence });
  prefetches.add({ id: "cats", predictor: "topic", place: ADA, query: asked("cats") });
  prefetches.run();
  await turn();
  expect(started).toEqual(["cats", "page 3"]);
  ends[0]?.();
  await turn();
  expect(started).toEqual(["cats", "page 3", "page 2"]);
});
