/**
 * Wherever the old text is when a message is edited or forgotten, in this process or another, no later answer contains
 * it, by words or by meaning.
 */
import type { Hits, Memory, OpenOptions } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";

const OLD = "blue kettle";
const NEW = "yellow boat";
const said = (content: string, id?: string) => ({ role: "user" as const, content, ...(id !== undefined && { id }) });
const texts = (hits: Hits) => hits.map(({ content }) => content);
const first = (hits: Hits) => hits[0]?.content;

/** By this clock no time passes: a question waits for what is embedded as long as that takes. */
const embedding = (): OpenOptions => ({ clock: new FakeClock(), embedder: new MirrorEmbedder() });
const GATHERING = { roundBuffer: { eager: false } };
const HOLDING = { hybridBuffer: { maxSize: 1_000 } };

/** Four users, each with the same two messages; each is changed in another way. */
const USERS = ["edits", "deletes", "forgets a session", "forgets all"];

interface Hiding {
  readonly where: string;
  readonly buffer?: OpenOptions["buffer"];
  /** Brings the old text of all users there. */
  readonly reach: (memory: Memory, path: string) => Promise<Memory>;
}

const ask = async (memory: Memory, text: string): Promise<void> => {
  for (const user of USERS) await memory.session({ user }).query(text);
};

const HIDINGS: readonly Hiding[] = [
  {
    where: "in the tail of the RoundBuffer",
    buffer: GATHERING,
    reach: async (memory) => memory,
  },
  {
    where: "in the tail, embedded for a question",
    buffer: GATHERING,
    async reach(memory) {
      await ask(memory, OLD);
      return memory;
    },
  },
  {
    where: "in the VectorCache",
    buffer: HOLDING,
    async reach(memory) {
      await until(() => memory.service.buffers.hybrid?.itemCount === 2 * USERS.length);
      await ask(memory, OLD);
      return memory;
    },
  },
  {
    where: "in the store",
    async reach(memory) {
      await memory.flush();
      return memory;
    },
  },
  {
    where: "in a finished answer, and in the vectors that are kept in memory",
    async reach(memory) {
      await memory.flush();
      for (let time = 0; time < 2; time++) for (const text of [OLD, mirrored(OLD)]) await ask(memory, text);
      expect(memory.service.buffers.query.answers.hits).toBe(2 * USERS.length);
      return memory;
    },
  },
  {
    where: "among the victims",
    buffer: { query: { cacheSize: 2 } },
    async reach(memory) {
      await memory.flush();
      for (const text of [OLD, mirrored(OLD)]) await ask(memory, text);
      expect(memory.service.buffers.query.victims.entries).toBe(2 * USERS.length - 2);
      return memory;
    },
  },
  {
    where: "in a file that is opened again",
    async reach(memory, path) {
      await ask(memory, OLD);
      await memory.close();
      return open({ path, ...embedding() });
    },
  },
];

async function change(memory: Memory): Promise<void> {
  await memory.session({ user: "edits" }).update("old", { content: NEW });
  await memory.session({ user: "deletes" }).delete(["old"]);
  await memory.session({ user: "forgets a session", session: "s" }).forget();
  await memory.forget({ user: "forgets all" });
}

async function expectChanged(memory: Memory): Promise<void> {
  for (const user of USERS) {
    const session = memory.session({ user });
    for (const question of [OLD, mirrored(OLD), "kettle", "green lamp"]) {
      expect(texts(await session.query(question))).not.toContain(OLD);
    }
  }
  const session = memory.session({ user: "edits" });
  for (const question of [NEW, mirrored(NEW)]) expect(first(await session.query(question))).toBe(NEW);
  expect(first(await session.query(mirrored("green lamp")))).toBe("green lamp");
  expect(texts(await memory.session({ user: "deletes" }).query(OLD))).toEqual(["green lamp"]);
  for (const user of ["forgets a session", "forgets all"]) {
    expect(await memory.session({ user }).query(OLD)).toHaveLength(0);
  }
}

describe.each(["this process", "another one"])("text that %s edits or forgets is in no answer, if it was", (who) => {
  it.each(HIDINGS)("$where", async ({ buffer, reach }) => {
    const path = newPath();
    const started = await open({ path, ...embedding(), ...(buffer && { buffer }) });
    for (const user of USERS) {
      await started.session({ user, session: "s" }).add([said(OLD, "old"), said("green lamp")]);
    }
    const memory = await reach(started, path);
    const other = who === "this process" ? memory : await open({ path, ...embedding() });
    await change(other);
    await expectChanged(memory);
    await expectChanged(other);
    await memory.flush();
    await expectChanged(memory);
    await memory.close();
    await expectChanged(await open({ path, ...embedding() }));
  });
});
