/** Edits of blocks in a turn: one commit with its messages and facts, or nothing of it, and nothing is lost. */
import { type BufferedWrite, type Memory, openMemory, type Session, type Turn } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { FaultyStore } from "holdfast/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { type Interrupted, memoryOn, openInterrupted } from "./interrupted.js";
import { memoryAt, suitePath } from "./stores.js";

const SCOPE = { user: "ada", agent: "tutor", session: "s" } as const;
const MESSAGE: BufferedWrite = { op: "save_message", message: { role: "user", content: "I moved to Lisbon" } };
const FACT: BufferedWrite = { op: "upsert_fact", category: "home", content: "lives in Lisbon", confidence: 0.9 };
const EDIT: BufferedWrite = { op: "edit_block", block: "human", append: "Lisbon", reason: "was told" };

function turnOf(session: Session, ...writes: readonly BufferedWrite[]): Turn {
  const turn = session.turn();
  for (const write of writes) turn.push(write);
  return turn;
}

/** Everything that a turn may have written. */
async function written(session: Session): Promise<object> {
  return {
    items: (await session.list({ order: "asc" })).items.map(({ content }) => content),
    facts: (await session.facts.list()).items.map(({ content }) => content),
    blocks: (await session.blocks.list()).map(({ name, content, version }) => [name, content, version]),
  };
}

describe("a turn with an edit of a block", () => {
  const memory = memoryAt(suitePath());
  const groups = async (): Promise<number> => (await memory().stats()).write.totalGroups;
  let users = 0;

  /** Another user, with one block. */
  async function begun(): Promise<Session> {
    const session = memory().session({ ...SCOPE, user: `ada ${++users}` });
    await session.blocks.create({ name: "human", content: "Ada" });
    return session;
  }

  it("is one commit, with its messages and facts", async () => {
    const session = await begun();
    const before = await groups();
    const turn = turnOf(session, MESSAGE, EDIT, FACT);
    const added = await session.commit(turn);
    expect(turn.isEmpty).toBe(true);
    expect(added).toMatchObject({ sequences: [1], repeated: false });
    expect(await groups()).toBe(before + 1);
    expect(await written(session)).toEqual({
      items: ["I moved to Lisbon"],
      facts: ["lives in Lisbon"],
      blocks: [["human", "Ada\nLisbon", 2]],
    });
    expect(await session.blocks.history("human")).toMatchObject([
      { version: 2, old: "Ada", new: "Ada\nLisbon", reason: "was told", actor: "agent tutor" },
    ]);
  });

  it("alone is a commit too, and not a repetition", async () => {
    const session = await begun();
    const before = await groups();
    const added = await session.commit(turnOf(session, EDIT));
    expect(added).toEqual({ ids: [], sequences: [], repeated: false });
    expect(await groups()).toBe(before + 1);
  });

  it.each<readonly [what: string, code: string, write: BufferedWrite]>([
    [
      "a message of a known id",
      "conflict",
      { op: "save_message", message: { id: "m", role: "user", content: "other" } },
    ],
    ["an edit of an older version", "conflict", { ...EDIT, block: "other", expectVersion: 1 } as BufferedWrite],
    ["an edit of a version to come", "conflict", { ...EDIT, block: "other", expectVersion: 3 } as BufferedWrite],
    ["an edit of a missing block", "not_found", { ...EDIT, block: "Human" } as BufferedWrite],
    ["an edit of a missing text", "not_found", { op: "edit_block", block: "human", replace: "Bob", with: "" }],
    ["an edit of a read-only block", "read_only", { ...EDIT, block: "rules" } as BufferedWrite],
    ["an edit over the budget", "too_large", { ...EDIT, block: "tight" } as BufferedWrite],
    ["an edit that is none", "invalid_input", { op: "edit_block", block: "human" } as unknown as BufferedWrite],
    ["an edit of no name", "invalid_input", { op: "edit_block", block: "", append: "x" }],
    ["a fact of no confidence", "invalid_input", { ...FACT, confidence: 2 } as BufferedWrite],
  ])("writes nothing if one part fails: %s", async (_, code, bad) => {
    const session = await begun();
    await session.add([{ id: "m", role: "user", content: "here first" }]);
    await session.blocks.create({ name: "other", content: "one" });
    await session.blocks.edit("other", { content: "two" });
    await session.blocks.create({ name: "rules", readOnly: true });
    await session.blocks.create({ name: "tight", content: "1234", maxTokens: 1, policy: "refuse" });
    const before = await written(session);
    const turn = turnOf(session, MESSAGE, FACT, EDIT, bad, { ...EDIT, append: "last" } as BufferedWrite);
    await expect(session.commit(turn)).rejects.toMatchObject({ code });
    expect(await written(session)).toEqual(before);
    // Nothing is lost: without the bad part it is written, once.
    const writes = turn.drain();
    expect(writes).toHaveLength(5);
    expect(writes.slice(1)).toEqual([FACT, EDIT, bad, { ...EDIT, append: "last" }]);
    turn.restore(writes.filter((_write, index) => index !== 3)); // a turn keeps copies
    const number = await groups();
    await session.commit(turn);
    expect(await groups()).toBe(number + 1);
    expect((await session.blocks.get("human"))?.content).toBe("Ada\nLisbon\nlast");
    expect(await written(session)).toMatchObject({
      items: ["here first", "I moved to Lisbon"],
      facts: ["lives in Lisbon"],
    });
  });

  it("continues from its own edits of the same block, each of them a version", async () => {
    const session = await begun();
    await session.blocks.create({ name: "log" });
    const before = await groups();
    const turn = turnOf(
      session,
      EDIT,
      { op: "edit_block", block: "log", append: "first" },
      { op: "edit_block", block: "human", replace: "Lisbon", with: "Porto", expectVersion: 2 },
      { op: "edit_block", block: "human", insert: "name:", line: 0 },
    );
    await session.commit(turn);
    expect(await groups()).toBe(before + 1);
    expect((await session.blocks.get("human"))?.content).toBe("name:\nAda\nPorto");
    const log = await session.blocks.history("human");
    expect(log.map((edit) => [edit.version, edit.old, edit.new])).toEqual([
      [4, "Ada\nPorto", "name:\nAda\nPorto"],
      [3, "Ada\nLisbon", "Ada\nPorto"],
      [2, "Ada", "Ada\nLisbon"],
    ]);
    expect((await session.blocks.get("log"))?.content).toBe("first");
  });

  it("archives what exceeds the budget in the same commit, and returns the messages only", async () => {
    const session = await begun();
    const { id } = await session.blocks.create({ name: "tight", content: "1234", maxTokens: 1, policy: "archive" });
    const before = await groups();
    const walrus: BufferedWrite = { op: "edit_block", block: "tight", append: "walrus" };
    const narwhal: BufferedWrite = { op: "edit_block", block: "tight", append: "narwhal" };
    const added = await session.commit(turnOf(session, walrus, MESSAGE, narwhal));
    expect(added).toMatchObject({ sequences: [1] });
    expect((await session.get(added.ids)).map(({ kind }) => kind)).toEqual(["message"]);
    expect(await groups()).toBe(before + 1);
    for (const [word, blockVersion] of [
      ["walrus", 2],
      ["narwhal", 3],
    ] as const) {
      expect([...(await session.query(word))]).toMatchObject([
        { kind: "overflow", content: `\n${word}`, metadata: { block: id, blockName: "tight", blockVersion } },
      ]);
    }
    expect(await session.blocks.get("tight")).toMatchObject({ content: "1234", version: 3 });
  });

  it("loses nothing to concurrent commits", async () => {
    const session = await begun();
    const edits = Array.from({ length: 24 }, (_, at) => {
      const append = `line ${at}`;
      if (at % 3 === 0) return session.blocks.edit("human", { append });
      return session.commit(turnOf(session, MESSAGE, { op: "edit_block", block: "human", append }));
    });
    await Promise.all(edits);
    const block = await session.blocks.get("human");
    expect(block?.version).toBe(25);
    expect(block?.content.split("\n").sort()).toEqual(["Ada", ...edits.map((_, at) => `line ${at}`)].sort());
    expect((await session.list({ limit: 100 })).items).toHaveLength(16);
  });
});

describe("a turn whose block is edited by someone else between its plan and its commit", () => {
  const path = suitePath();
  let interrupted: Interrupted;
  let others: Memory;
  let users = 0;
  beforeAll(async () => {
    interrupted = await openInterrupted(path);
    others = await openMemory({ path });
  });
  afterAll(async () => {
    await interrupted.memory.close();
    await others.close();
  });

  const isPut = (write: { readonly op: string }): boolean => write.op === "put_block";

  /** A session whose next turn is overtaken by the other memory on the file. */
  async function overtaken(by: (other: Session) => Promise<unknown>) {
    const scope = { ...SCOPE, user: `ada ${++users}` };
    const [session, other] = [interrupted.memory.session(scope), others.session(scope)];
    await session.blocks.create({ name: "human", content: "name: Ada\n\nhome: Paris" });
    const before = interrupted.tried(isPut);
    interrupted.before(isPut, () => by(other));
    return { session, other, tried: (): number => interrupted.tried(isPut) - before };
  }

  it("is planned again, as a whole, from the current state", async () => {
    const { session, other, tried } = await overtaken((by) => by.blocks.edit("human", { append: "age: 36" }));
    const more: BufferedWrite = { op: "edit_block", block: "human", replace: "Paris", with: "Porto" };
    await session.commit(turnOf(session, MESSAGE, EDIT, FACT, more));
    expect(tried()).toBe(4);
    expect(await written(other)).toEqual({
      items: ["I moved to Lisbon"],
      facts: ["lives in Lisbon"],
      blocks: [["human", "name: Ada\n\nhome: Porto\nage: 36\nLisbon", 4]],
    });
  });

  it("is refused, and kept, if it was made from a version", async () => {
    const { session, other } = await overtaken((by) => by.blocks.edit("human", { append: "age: 36" }));
    const turn = turnOf(session, MESSAGE, FACT, { ...EDIT, expectVersion: 1 } as BufferedWrite);
    await expect(session.commit(turn)).rejects.toMatchObject({ code: "conflict", details: { version: 2 } });
    expect(turn.length).toBe(3);
    expect(await written(other)).toEqual({
      items: [],
      facts: [],
      blocks: [["human", "name: Ada\n\nhome: Paris\nage: 36", 2]],
    });
    const [message, fact] = turn.drain();
    if (!message || !fact) throw new Error("the turn has lost something");
    turn.restore([message, fact, { ...EDIT, expectVersion: 2 } as BufferedWrite]);
    await session.commit(turn);
    expect(await written(other)).toMatchObject({
      items: ["I moved to Lisbon"],
      blocks: [["human", "name: Ada\n\nhome: Paris\nage: 36\nLisbon", 3]],
    });
  });

  it("is merged if it was made from a version, may be merged, and does not overlap", async () => {
    const { session, other } = await overtaken((by) => by.blocks.edit("human", { replace: "Ada", with: "Ada L." }));
    const change = { replace: "home: Paris", with: "home: Lisbon", expectVersion: 1, merge: true };
    await session.commit(turnOf(session, MESSAGE, { op: "edit_block", block: "human", ...change }));
    expect((await other.blocks.get("human"))?.content).toBe("name: Ada L.\n\nhome: Lisbon");
  });

  it("is refused, and kept, if the block is gone, renamed or read-only by then", async () => {
    const cases: readonly (readonly [string, (other: Session) => Promise<unknown>])[] = [
      ["not_found", (other) => other.blocks.delete("human")],
      ["not_found", (other) => other.blocks.rename("human", "person")],
      ["read_only", (other) => other.blocks.configure("human", { readOnly: true })],
    ];
    for (const [code, by] of cases) {
      const { session, other } = await overtaken(by);
      const turn = turnOf(session, MESSAGE, FACT, EDIT);
      await expect(session.commit(turn)).rejects.toMatchObject({ code });
      expect(turn.length).toBe(3);
      expect(await written(other)).toMatchObject({ items: [], facts: [] });
    }
  });
});

describe("a retried turn edits blocks twice", () => {
  const key = { idempotencyKey: "turn 7" };

  it("not under its key, whatever it edits", async () => {
    const memory = await openMemory({ path: ":memory:" });
    try {
      const session = memory.session(SCOPE);
      await session.blocks.create({ name: "human", content: "Ada" });
      const turn = () =>
        turnOf(session, MESSAGE, FACT, EDIT, { op: "edit_block", block: "human", replace: "Ada", with: "Eve" });
      const first = await session.commit(turn(), key);
      const before = await written(session);
      expect(await session.commit(turn(), key)).toMatchObject({ ids: first.ids, sequences: [1], repeated: true });
      expect(await written(session)).toEqual(before);
      await expect(session.commit(turnOf(session, MESSAGE, EDIT), key)).rejects.toMatchObject({ code: "conflict" });
      expect(await written(session)).toEqual(before);
    } finally {
      await memory.close();
    }
  });

  it("not when its first commit was written with an unknown outcome, and more was pushed since", async () => {
    const path = newPath();
    const store = new FaultyStore(await SqliteStore.open({ path, busyTimeoutMs: 10_000 }));
    const failing = await memoryOn(store);
    await failing.session(SCOPE).blocks.create({ name: "human", content: "Ada" });
    const turn = turnOf(failing.session(SCOPE), MESSAGE, FACT, EDIT);
    store.failCommits("unknown, written");
    store.failReopens();
    await expect(failing.session(SCOPE).commit(turn)).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(turn.length).toBe(3);
    await failing.close();

    const memory = await openMemory({ path });
    try {
      const session = memory.session(SCOPE);
      turn.push({ ...EDIT, append: "Porto" } as BufferedWrite);
      const added = await session.commit(turn);
      expect(added).toMatchObject({ sequences: [1], repeated: false });
      expect(turn.isEmpty).toBe(true);
      expect(await written(session)).toEqual({
        items: ["I moved to Lisbon"],
        facts: ["lives in Lisbon"],
        blocks: [["human", "Ada\nLisbon\nPorto", 3]],
      });
    } finally {
      await memory.close();
    }
  });
});

describe("a turn on a store that fails", () => {
  it("is kept if nothing was written; if the outcome is lost, the block is edited once", async () => {
    const store = new FaultyStore(await SqliteStore.open({ path: newPath(), busyTimeoutMs: 10_000 }));
    const memory = await memoryOn(store);
    try {
      const session = memory.session(SCOPE);
      await session.blocks.create({ name: "human", content: "Ada" });
      const turn = turnOf(session, MESSAGE, FACT, EDIT);
      store.failCommits("failed");
      await expect(session.commit(turn)).rejects.toMatchObject({ code: "store_failed" });
      expect(turn.length).toBe(3);
      store.failCommits("unknown, written");
      await session.commit(turn);
      store.failCommits("unknown, not written");
      await session.commit(turnOf(session, FACT, { ...EDIT, append: "Porto" } as BufferedWrite));
      store.failCommits("unknown, written");
      await session.blocks.edit("human", { append: "Faro" });
      expect(await written(session)).toEqual({
        items: ["I moved to Lisbon"],
        facts: ["lives in Lisbon"],
        blocks: [["human", "Ada\nLisbon\nPorto\nFaro", 4]],
      });
    } finally {
      await memory.close();
    }
  });
});
