/** Memories: adds, edits, forgets, vectors, and what happens to a file as a whole. */
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspectFile, type Memory, type OpenOptions, openMemory, type Session } from "holdfast";
import { call, dump, search } from "../crash/calls.js";
import type { Finding } from "../crash/finding.js";
import { Lane } from "../crash/lane.js";
import { Ledger } from "../crash/ledger.js";
import { LANES, type Operation, type Text, textsOf, wordOf } from "../crash/operation.js";
import type { Found, Mood, Report } from "../crash/protocol.js";
import { report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { Random } from "../support/random.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import { unsound, type Workload } from "./workload.js";

/** `settled` ends what an earlier workload was found to have left. */
type MemoryReport = Report | { readonly say: "settled" };

const tell = (message: MemoryReport): void => report(message);

export const fileOf = (folder: string): string => join(folder, "memory.db");
export const BY_WORDS: OpenOptions = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

/** Words that are searched for in an image, at most, of those that are there and of those that are gone. */
const WORDS_MAX = 64;

/** Nine sessions that go on from one opening of the file to the next. */
class Writer {
  readonly #path: string;
  readonly #lanes: readonly Lane[];
  #op: number;

  constructor(folder: string, random: Random, firstOp = 1) {
    this.#path = fileOf(folder);
    this.#op = firstOp;
    const seeds = LANES.map(() => random.between(0, 2 ** 32 - 1));
    this.#lanes = seeds.map((seed, lane) => new Lane(lane, new Random(seed), () => this.#op++));
  }

  takeOp(): number {
    return this.#op++;
  }

  knows(found: readonly Found[]): void {
    for (const item of found) this.#lanes[item.lane]?.knows(item);
  }

  /** Opens the file, works and closes it. */
  async live(work: (memory: Memory) => Promise<unknown>, options: OpenOptions = BY_WORDS): Promise<void> {
    const memory = await openMemory({ ...options, path: this.#path });
    await work(memory);
    await memory.close();
  }

  /** So many turns of all sessions, side by side. */
  async work(memory: Memory, mood: Mood, turns: number): Promise<void> {
    await Promise.all(
      this.#lanes.map(async (lane) => {
        for (let turn = 0; turn < turns; turn++) {
          await Promise.all(lane.next(mood).map((operation) => this.perform(memory, operation)));
        }
      }),
    );
  }

  async perform(memory: Memory, operation: Operation): Promise<void> {
    tell({ say: "do", operation });
    const answer = await call(sessionOf(memory, operation.lane), operation);
    tell({ say: "done", op: operation.op, answer });
    this.#lanes[operation.lane]?.done(operation, answer);
  }
}

const sessionOf = (memory: Memory, lane: number): Session => memory.session(LANES[lane] as (typeof LANES)[number]);

/** A file that is made, and opened and closed again and again when there is little in it. */
const newFile: Workload = {
  name: "a new file",
  images: 400,
  async work(folder, random) {
    const writer = new Writer(folder, random);
    for (let life = 0; life < 4; life++) await writer.live((memory) => writer.work(memory, "growing", 1));
  },
  check,
};

/** Single adds, rounds, batches, bursts, with keys and ids and without; edits; checkpoints beside them. */
const adds: Workload = {
  name: "adds and edits",
  images: 400,
  async work(folder, random) {
    const writer = new Writer(folder, random);
    for (let life = 0; life < 2; life++) await writer.live((memory) => writer.work(memory, "growing", 40));
  },
  check,
};

const forgets: Workload = {
  name: "forgets",
  images: 400,
  async work(folder, random) {
    const writer = new Writer(folder, random);
    for (let life = 0; life < 2; life++) await writer.live((memory) => writer.work(memory, "forgetting", 14));
  },
  check,
};

const vectors: Workload = {
  name: "vectors",
  images: 200,
  async work(folder, random) {
    const writer = new Writer(folder, random);
    const options = { embedder: new HashEmbedder(), buffer: { hybridBuffer: { maxSize: 1, idleMs: 20 } } };
    await writer.live((memory) => writer.work(memory, "mixed", 14), options);
  },
  async check(folder, reports) {
    const findings = await check(folder, reports);
    const { problems } = await auditVectors(fileOf(folder), "message");
    return [...findings, ...problems.map(unsound)];
  },
};

/** More is forgotten at once than could be looked for: the whole file is rewritten. */
const vacuum: Workload = {
  name: "vacuum",
  images: 150,
  async work(folder, random) {
    const writer = new Writer(folder, random);
    const rounds = [Array.from({ length: 40 }, () => 12_000)]; // as large as a round is written in one piece
    await writer.live(async (memory) => {
      for (let large = 0; large < 7; large++) {
        await writer.perform(memory, { kind: "add", op: writer.takeOp(), lane: 0, rounds, retry: "none" });
      }
      await writer.work(memory, "growing", 1);
      const forgetting = writer.perform(memory, { kind: "forget", op: writer.takeOp(), lane: 0 });
      for (let lane = 1; lane < LANES.length; lane++) {
        const add = { kind: "add", op: writer.takeOp(), lane, rounds: [[80]], retry: "key" } as const;
        await writer.perform(memory, add);
      }
      await forgetting;
    });
  },
  check,
};

/** The words were analysed by another version: opening the file indexes them all anew. */
const reindex: Workload = {
  name: "words indexed anew",
  images: 150,
  async prepare(folder, random) {
    const writer = new Writer(folder, random);
    await writer.live((memory) => writer.work(memory, "growing", 12));
    const database = openRaw(fileOf(folder));
    database.exec("UPDATE head SET analysis = analysis - 1");
    database.close();
  },
  async work(folder, random) {
    const writer = new Writer(folder, random, 100_000);
    await writer.live((memory) => writer.work(memory, "growing", 2));
  },
  check,
};

/** What a power cut has left is opened, and the power is cut again. */
const again: Workload = {
  name: "a second power cut",
  images: 200,
  after: adds.name,
  async prepare(folder) {
    for (const items of await foundIn(folder)) tell({ say: "found", items });
    tell({ say: "settled" });
  },
  async work(folder, random) {
    const writer = new Writer(folder, random, 100_000);
    const found = (await foundIn(folder)).flat();
    writer.knows(found);
    await writer.live((memory) => writer.work(memory, "mixed", 4));
  },
  check,
};

/** What the file holds, read from a copy: the first to open the file itself is the one that is recorded. */
async function foundIn(folder: string): Promise<readonly (readonly Found[])[]> {
  const copy = await mkdtemp(join(tmpdir(), "holdfast-power-"));
  try {
    await cp(folder, copy, { recursive: true });
    const memory = await openMemory({ ...BY_WORDS, path: fileOf(copy) });
    const pages: (readonly Found[])[] = [];
    for await (const items of dump(memory)) pages.push(items);
    await memory.close();
    return pages;
  } finally {
    await rm(copy, { recursive: true });
  }
}

export const MEMORY_WORKLOADS: readonly Workload[] = [newFile, adds, forgets, vectors, vacuum, reindex, again];

/** All that was acknowledged is there, in order and once; nothing that was forgotten; the file is sound and can be used. */
async function check(folder: string, reports: readonly unknown[]): Promise<Finding[]> {
  const path = fileOf(folder);
  const { ledger, gone } = booksOf(reports as readonly MemoryReport[]);
  const findings = await traces(folder, gone);
  const memory = await openMemory({ ...BY_WORDS, path });
  const found: Found[] = [];
  for await (const items of dump(memory)) found.push(...items);
  findings.push(...ledger.audit(found));
  const { words, gone: goneIds } = ledger.search(new Random(reports.length), WORDS_MAX);
  const { unfound, ghosts } = await search(memory, words, goneIds);
  findings.push(...ledger.searched(unfound, ghosts), ...(await use(memory)));
  await memory.close();
  findings.push(...[...unsoundness(path), ...(await examined(path))].map(unsound));
  return findings;
}

/** What the reports say: the books, and words of texts of which nothing may be left. */
function booksOf(reports: readonly MemoryReport[]): { readonly ledger: Ledger; readonly gone: readonly string[] } {
  const ledger = new Ledger();
  const forgotten = new Forgotten();
  const operations = new Map<number, Operation>();
  const found: Found[] = [];
  for (const report of reports) {
    if (report.say === "do") {
      ledger.begin(report.operation);
      operations.set(report.operation.op, report.operation);
    }
    if (report.say === "done") {
      const wrong = ledger.done(report.op, report.answer);
      if (wrong.length > 0) throw new Error(`the recorded process was told what is wrong: ${JSON.stringify(wrong)}`);
      forgotten.done(operations.get(report.op) as Operation, report.answer);
    }
    if (report.say === "found") found.push(...report.items);
    if (report.say === "settled") ledger.audit(found.splice(0));
  }
  return { ledger, gone: forgotten.words };
}

/** The texts that were forgotten for good: not a byte of them may be left, in any file. */
class Forgotten {
  /** By lane and id: the text that an item has now. */
  readonly #texts = new Map<string, Text>();
  readonly #words: string[] = [];

  get words(): readonly string[] {
    return this.#words;
  }

  done(operation: Operation, answer: { readonly ids?: readonly string[]; readonly purged?: boolean }): void {
    const nameOf = (id: string): string => `${operation.lane} ${id}`;
    if (operation.kind === "add") {
      for (const text of textsOf(operation).flat()) this.#texts.set(nameOf(answer.ids?.[text.at] ?? ""), text);
    }
    if (operation.kind === "update") {
      this.#texts.set(nameOf(operation.id), { op: operation.op, at: 0, size: operation.size });
    }
    if (operation.kind !== "delete" && operation.kind !== "forget") return;
    const isGone = (name: string): boolean =>
      operation.kind === "delete" ? operation.ids.some((id) => nameOf(id) === name) : name.startsWith(nameOf(""));
    for (const [name, text] of this.#texts) {
      if (!isGone(name)) continue;
      this.#texts.delete(name);
      if (answer.purged) this.#words.push(wordOf(text));
    }
  }
}

/** Words that are somewhere in the bytes of the files and should not be. */
async function traces(folder: string, words: readonly string[]): Promise<Finding[]> {
  if (words.length === 0) return [];
  const findings: Finding[] = [];
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name));
    for (const word of words) {
      if (bytes.includes(`${word} said`)) findings.push({ problem: "ghost", what: `${word} in the bytes of ${name}` });
    }
  }
  return findings;
}

/** The file can be used: what is added now is found now. */
async function use(memory: Memory): Promise<Finding[]> {
  const session = memory.session({ user: "zoe", session: "afterwards" });
  const { ids } = await session.add([{ role: "user", content: "the power is back" }]);
  const hits = await session.query("power");
  return hits.some(({ id }) => id === ids[0]) ? [] : [{ problem: "unfound", what: "what was added afterwards" }];
}

/** What the doctor says of a file. That something waits to be done is no fault. */
const WAITING: ReadonlySet<string> = new Set(["purge", "log", "leases", "pending", "space"]);

export async function examined(path: string): Promise<string[]> {
  const { checks } = await inspectFile({ path, deep: true, model: "none" });
  return checks
    .filter(({ name, state }) => state === "error" || (state === "warning" && !WAITING.has(name)))
    .map(({ name, what }) => `doctor: ${name}: ${what}`);
}
