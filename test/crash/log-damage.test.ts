/**
 * The log of a killed process, damaged after the acknowledged part: truncated, followed by garbage, or ended by an
 * incomplete transaction. When the file is reopened, it contains everything that was acknowledged, and nothing else.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Memory, openMemory } from "holdfast";
import { beforeAll, describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { type Acknowledged, roundOf, SCOPE } from "./adder.js";
import { Log } from "./log.js";
import { digest, messagesOf, textOf, textsOf, wordOf } from "./operation.js";
import { changedBy, type Files, flip, readFiles, TAILS, type Tail, withUnfinished, writeFiles } from "./tail.js";

const ROUNDS = 24;
/** Logs that are cut, and logs with a flipped bit; each kind of tail is tried this often. */
const CUTS = 16;
const TRIES = 2;

let files: Files;
let acknowledged: readonly Acknowledged[];
let tail: Tail;

/** The files that a killed process leaves, with all its rounds in the log. */
beforeAll(() =>
  inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const reports: Acknowledged[] = [];
    const child = new Child<string, Acknowledged | "idle">(
      new URL("./adder.js", import.meta.url),
      [path, String(ROUNDS)],
      (report) => (report === "idle" ? child.kill() : reports.push(report)),
    );
    const { signal, stderr } = await child.ended;
    expect(signal, stderr).toBe("SIGKILL");
    files = readFiles(path);
    acknowledged = reports;
    tail = { log: new Log(files.log), unfinished: new Log(withUnfinished(files, join(folder, "unfinished.db"))) };
  }),
);

/**
 * Opens a copy of the files with this log: the memory must hold the first `rounds` rounds and take one more, and that
 * one must be there too when the process dies again. Requires an empty folder.
 */
async function expectRounds(folder: string, log: Buffer, rounds: number): Promise<void> {
  const first = join(folder, "first.db");
  const second = join(folder, "second.db");
  writeFiles(first, { ...files, log });
  await withMemory(first, async (memory) => {
    await expectExactly(memory, rounds);
    await memory.session(SCOPE).add(messagesOf(roundOf(rounds + 1)).flat());
    writeFiles(second, readFiles(first));
  });
  await withMemory(second, (memory) => expectExactly(memory, rounds + 1));
  expect(unsoundness(first)).toEqual([]);
  expect(unsoundness(second)).toEqual([]);
}

async function withMemory(path: string, work: (memory: Memory) => Promise<void>): Promise<void> {
  const memory = await openMemory({ path });
  try {
    await work(memory);
  } finally {
    await memory.close();
  }
}

async function expectExactly(memory: Memory, rounds: number): Promise<void> {
  const operations = Array.from({ length: rounds }, (_, at) => roundOf(at + 1));
  const texts = operations.flatMap((operation) => textsOf(operation).flat());
  const session = memory.session(SCOPE);
  const { items } = await session.list({ order: "asc", limit: 1000 });
  expect(items.map(({ content }) => digest(content))).toEqual(texts.map((text) => digest(textOf(text))));
  expect(items.map(({ sequence, version }) => `${sequence} v${version}`)).toEqual(texts.map((_, at) => `${at + 1} v1`));
  const hits = texts.length > 0 ? await session.query(texts.map(wordOf).join(" "), { topK: 1000 }) : [];
  expect(hits.map(({ id }) => id).sort()).toEqual(items.map(({ id }) => id).sort());
}

it("holds every acknowledged round in the log before the answer is given", () => {
  const ends = tail.log.frames.filter(({ commit }) => commit).map(({ end }) => end);
  expect(acknowledged).toHaveLength(ROUNDS);
  for (const { logEnd } of acknowledged) expect(ends).toContain(logEnd);
  expect(tail.log.committedEnd).toBe(acknowledged.at(-1)?.logEnd);
});

it("would show a transaction that came to its end, and damage to what is committed", () =>
  inFolder(async (folder) => {
    const path = join(folder, "changed.db");
    writeFiles(path, { ...files, log: changedBy(tail.log, 1) });
    await withMemory(path, async (memory) => {
      const { items } = await memory.session(SCOPE).list({ limit: 1000 });
      expect(items.some(({ content }) => content.includes(" sung "))).toBe(true);
    });
    const short = tail.log.bytes.subarray(0, tail.log.committedEnd - 1);
    await expect(expectRounds(folder, short, ROUNDS)).rejects.toThrow("to deeply equal");
  }));

it("opens a log that is cut or damaged anywhere with the rounds that were committed before that place", () =>
  inFolder(async (folder) => {
    const random = new Random(testSeed("cuts"));
    for (let cut = 0; cut < CUTS; cut++) {
      const at = random.between(acknowledged[0]?.logEnd ?? 0, files.log.length - 1);
      const rounds = acknowledged.filter(({ logEnd }) => logEnd <= at).length;
      const log = cut % 2 === 0 ? files.log.subarray(0, at) : flip(files.log, at, random);
      await expectRounds(emptyFolder(folder, cut), log, rounds);
    }
  }));

/** The same files opened twice in one process would share what SQLite remembers of them; each try has its own. */
function emptyFolder(folder: string, number: number): string {
  const inner = join(folder, String(number));
  mkdirSync(inner);
  return inner;
}

describe("behind the last commit", () => {
  const seed = testSeed("tails");

  it.each(Object.keys(TAILS))("opens a log with %s", (name) =>
    inFolder(async (folder) => {
      const random = new Random(seed);
      expect(tail.unfinished.frames.length).toBeGreaterThan(tail.log.frames.length + 5);
      expect(tail.unfinished.committedEnd).toBe(tail.log.committedEnd);
      for (let variant = 0; variant < TRIES; variant++) {
        const log = TAILS[name]?.(tail, random) ?? Buffer.alloc(0);
        await expectRounds(emptyFolder(folder, variant), log, ROUNDS);
      }
    }),
  );
});
