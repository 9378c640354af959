/**
 * Several real processes write, edit, delete and ask on one file at once, each with its own caches, vectors and
 * buffers. Every answer, in any process, reflects everything that was acknowledged before the question began.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const PROCESSES = 4;
const STEPS = 60;
const SCOPE = { user: "ada", session: "shared" };
/** Questions that all of them ask again and again, so that there are answers to be kept. */
const COMMON = ["who has seen the boat", "what about the harbour", "the lamp in the storm"];
const EVERYTHING = 1_000;

interface Mine {
  readonly id: string;
  readonly text: string;
}

/** What was acknowledged, by all of them. */
class Log {
  readonly #gone = new Set<string>();
  #words = 0;

  /** A text whose first word is in no other. */
  newText(random: Random): { readonly word: string; readonly text: string } {
    const word = `z${[...(this.#words++).toString(7)].map((digit) => "bcdfghj"[Number(digit)]).join("")}z`;
    return {
      word,
      text: `${word} ${random.pick(["saw the boat", "left the harbour", "lit the lamp", "met the storm"])}`,
    };
  }

  isGone(text: string): void {
    this.#gone.add(text);
  }

  /** All that no answer may show to a question that begins now. */
  get gone(): ReadonlySet<string> {
    return new Set(this.#gone);
  }
}

/** One process's part: what it writes is its own to change; who is asked about it is anyone. */
class Writer {
  readonly #peers: readonly PeerProcess[];
  readonly #peer: PeerProcess;
  readonly #random: Random;
  readonly #log: Log;
  readonly problems: string[] = [];
  asked = 0;
  #mine: Mine[] = [];

  constructor(peers: readonly PeerProcess[], own: number, seed: number, log: Log) {
    this.#peers = peers;
    this.#peer = peers[own] as PeerProcess;
    this.#random = new Random(seed);
    this.#log = log;
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      const choice = this.#random.weighted({ add: 5, edit: 4, delete: 2, flush: 1 });
      if (choice === "add" || this.#mine.length === 0) await this.#add();
      else if (choice === "edit") await this.#edit();
      else if (choice === "delete") await this.#delete();
      else await this.#peer.call("flush");
      await this.#ask(this.#random.pick(COMMON), 20);
    }
  }

  async #add(): Promise<void> {
    const { word, text } = this.#log.newText(this.#random);
    const { ids } = await this.#peer.call("add", SCOPE, [{ role: "user", content: text }]);
    this.#mine.push({ id: String(ids[0]), text });
    await this.#expect(word, text);
  }

  async #edit(): Promise<void> {
    const at = this.#random.between(0, this.#mine.length - 1);
    const { id, text: old } = this.#mine[at] as Mine;
    const { word, text } = this.#log.newText(this.#random);
    await this.#peer.call("update", SCOPE, id, text);
    this.#log.isGone(old);
    this.#mine[at] = { id, text };
    await this.#expect(word, text);
    await this.#ask(old, 5);
  }

  async #delete(): Promise<void> {
    const [{ id, text }] = this.#mine.splice(this.#random.between(0, this.#mine.length - 1), 1) as [Mine];
    await this.#peer.call("delete", SCOPE, [id]);
    this.#log.isGone(text);
    await this.#ask(text, 5);
  }

  /** The text that has the word is among the best; a neighbour to which it lends the word may come before it. */
  async #expect(word: string, text: string): Promise<void> {
    const best = await this.#ask(word, 3);
    if (!best.includes(text)) this.problems.push(`asked for ${word}, got ${best.join(", ")} instead of ${text}`);
  }

  async #ask(question: string, topK: number): Promise<readonly string[]> {
    const { gone } = this.#log;
    this.asked++;
    const answer = await this.#random.pick(this.#peers).call("query", SCOPE, question, topK);
    for (const text of answer)
      if (gone.has(text)) this.problems.push(`asked for ${question}, got ${text}, which is gone`);
    return answer;
  }

  get texts(): readonly string[] {
    return this.#mine.map(({ text }) => text);
  }
}

it("four processes never show each other what is gone, and always what is there", () =>
  inFolder((folder) =>
    withPeers(PROCESSES, async (peers) => {
      const path = join(folder, "memory.db");
      const random = new Random(testSeed("query"));
      const buffer = { hybridBuffer: { maxSize: 3, idleMs: 50, leaseMs: 500 }, query: { cacheSize: 5 } };
      await Promise.all(
        peers.map((peer, at) =>
          peer.call("openEmbedding", { path, buffer: { ...buffer, roundBuffer: { eager: at % 2 === 0 } } }),
        ),
      );
      const log = new Log();
      const writers = peers.map((_, at) => new Writer(peers, at, random.between(0, 2 ** 32 - 1), log));
      await Promise.all(writers.map((writer) => writer.run()));
      expect(writers.flatMap(({ problems }) => problems)).toEqual([]);
      expect(writers.reduce((sum, { asked }) => sum + asked, 0)).toBeGreaterThan(PROCESSES * STEPS);

      const [first] = peers as [PeerProcess];
      await first.when(({ pending }) => pending === 0);
      const texts = writers.flatMap((writer) => writer.texts).sort();
      for (const question of [...COMMON, "xylophone"]) {
        const answers = await Promise.all(peers.map((peer) => peer.call("query", SCOPE, question, EVERYTHING)));
        for (const answer of answers) expect(answer).toEqual(answers[0]);
        expect([...(answers[0] ?? [])].sort()).toEqual(texts);
      }
      expect(unsoundness(path)).toEqual([]);
      expect((await auditVectors(path, "message")).problems).toEqual([]);
      await Promise.all(peers.map((peer) => peer.call("close")));
    }),
  ));
