/** What is refused is refused in the same words, whichever way it was asked. */
import { HoldfastError, type MemoryHandle, type Session } from "holdfast";
import { HoldfastError as ClientError } from "holdfast/client";
import { expect, it } from "vitest";
import type { Opened } from "./doors.js";

type Call = (session: Session, memory: Opened["memory"]) => unknown;
type Calls = { readonly [what: string]: Call };

const SCOPE = { user: "ada", agent: "tutor", session: "s" };
const SAID = [{ id: "m1", role: "user", content: "I moved to Lisbon" }] as const;
/** Commits a turn with one point. */
async function stored(session: Session, more: object): Promise<void> {
  const turn = session.turn();
  turn.push({ op: "store_embedding", collection: "c", pointId: "p", vector: [1], ...more } as never);
  await session.commit(turn);
}

const message = (more: object) => [{ role: "user", content: "x", ...more }] as never;

/** Refused by the engine, or by the client in the engine's words: code, message, hint and details are equal. */
const BY_THE_ENGINE: Calls = {
  "a scope that names nobody": (_, memory) => memory.session({}),
  "a scope with an unknown key": (_, memory) => memory.session({ usr: "ada" } as never),
  "a scope with a broken name": (_, memory) => memory.session({ user: "a\0b" }),
  "grants that are no list": (_, memory) => memory.session(SCOPE, { grants: "crew" as never }),
  "grants that name no space": (_, memory) => memory.session(SCOPE, { grants: [{ crew: "x" } as never] }),
  "unknown options of a session": (_, memory) => memory.session(SCOPE, { grant: [] } as never),
  "forgetting nobody": (_, memory) => memory.forget({}),
  "a space that was not granted": (s) => s.query("x", { spaces: [{ user: "bob" }] }),
  "a promotion into a space that was not granted": (s) => s.promote(["m1"], { to: { team: "x" }, reason: "r" }),
  "another text under a taken id": (s) => s.add(message({ id: "m1" })),
  "another round under a used key": async (s) => {
    await s.add([{ role: "user", content: "first" }], { idempotencyKey: "k" });
    await s.add([{ role: "user", content: "second" }], { idempotencyKey: "k" });
  },
  "an unknown option of add": (s) => s.add(SAID, { idempotency: "k" } as never),
  "an empty idempotency key": (s) => s.add(SAID, { idempotencyKey: "" }),
  "an id twice in one call": (s) => s.add([...message({ id: "d" }), ...message({ id: "d" })]),
  "metadata with a Date": (s) => s.add(message({ metadata: { at: new Date() } })),
  "metadata with undefined": (s) => s.add(message({ metadata: { a: { b: undefined } } })),
  "metadata that is too large": (s) => s.add(message({ metadata: { a: "x".repeat(70_000) } })),
  "metadata that is too deep": (s) => s.add(message({ metadata: nested(40) })),
  "a part without a type": (s) => s.add(message({ content: [{ text: "x" }] })),
  "a time that is none": (s) => s.add(message({ occurredAt: new Date("never") })),
  "a day that is in no calendar": (s) => s.add(message({ occurredAt: "2025-02-30" })),
  "a time without an offset": (s) => s.list({ from: "2025-01-01T10:00" }),
  "an item that is not there": (s) => s.update("nowhere", { content: "x" }),
  "an edit that changes nothing": (s) => s.update("m1", {}),
  "an edit of an older version": async (s) => {
    await s.update("m1", { tier: "working" });
    await s.update("m1", { tier: "semantic" }, { expectVersion: 1 });
  },
  "an unknown option of an edit": (s) => s.update("m1", { tier: "working" }, { expectedVersion: 1 } as never),
  "a cursor that is none": (s) => s.list({ cursor: "garbage" }),
  "within a session that is not named": (_, memory) =>
    memory.session({ user: "ada" }).query("x", { within: "session" }),
  "a ledger of no session": (_, memory) => memory.session({ user: "ada" }).ledger(),
  "a conversation of no session": (_, memory) => memory.session({ user: "ada" }).conversation(),
  "an unknown counter": (s) => s.context({ counter: "abacus" }),
  "shares of nothing": (s) => s.context({ shares: { blocks: 0, facts: 0, turns: 0, recall: 0 } }),
  "a promotion of what is not there": (_, memory) =>
    memory.session(SCOPE, { grants: [{ team: "x" }] }).promote(["none"], { to: { team: "x" }, reason: "r" }),
  "a promotion into the own space": (s) => s.promote(["m1"], { to: { user: "ada" }, reason: "r" }),
  "a turn of no capacity": (s) => s.turn(0),
  "a vector of nothing": (s) => stored(s, { vector: [] }),
  "a vector of zeros": (s) => stored(s, { vector: [0, -0, 1e-60] }),
  "a vector with NaN": (s) => stored(s, { vector: [1, Number.NaN] }),
  "a vector with an infinity": (s) => stored(s, { vector: Float32Array.of(1, Number.NEGATIVE_INFINITY) }),
  "a vector with a number too large for 32 bits": (s) => stored(s, { vector: [1e39] }),
  "a vector that is too long": (s) => stored(s, { vector: new Float32Array(65_537).fill(1) }),
  "a vector of other dimensions": async (s) => {
    await stored(s, { collection: "flat", vector: [1, 2] });
    await stored(s, { collection: "flat", pointId: "other", vector: [1, 2, 3] });
  },
  "a search by a vector of other dimensions": async (s) => {
    await stored(s, { collection: "flat", vector: [1, 2] });
    await s.points.search("flat", [1]);
  },
  "a search by a vector of zeros": (s) => s.points.search("c", [0]),
  "a search of points in a space that was not granted": (s) => s.points.search("c", [1], { spaces: [{ user: "bob" }] }),
  "a payload that is too large": (s) => stored(s, { payload: "x".repeat(70_000) }),
  "a payload that is too deep": (s) => stored(s, { payload: nested(40) }),
  "a payload with a Date": (s) => stored(s, { payload: { at: new Date() } }),
  "a payload with NaN": (s) => stored(s, { payload: [Number.NaN] }),
  "a collection without a name": (s) => stored(s, { collection: "" }),
  "a collection with a broken name": (s) => stored(s, { collection: "a\ud800" }),
  "a point without an id": (s) => stored(s, { pointId: "" }),
  "a point with a broken id": (s) => s.points.get("c", ["a\0"]),
  "a filter by undefined": (s) => s.query("x", { metadata: { tenant: undefined as never } }),
  "a list filtered by undefined": (s) => s.list({ metadata: { tenant: undefined as never } }),
  "a filter that is a Map": (s) => s.query("x", { metadata: new Map([["tenant", "a"]]) as never }),
  "a filter with inherited keys": (s) => s.query("x", { metadata: Object.create({ tenant: "a" }) }),
  "a filter by an object under __proto__": (s) => s.query("x", { metadata: JSON.parse('{"__proto__":{"a":1}}') }),
  "a filter of many values that are none": (s) => s.query("x", { metadata: { tenant: ["a", undefined as never] } }),
  "a block of a taken name": (s) => s.blocks.create({ name: "persona" }),
  "a block that is not there": (s) => s.blocks.edit("nobody", { append: "x" }),
  "a deletion of a block that is not there": (s) => s.blocks.delete("nobody"),
  "a version that is not there": (s) => s.blocks.version("persona", 99),
  "an edit of an older version of a block": async (s) => {
    await s.blocks.edit("persona", { append: "y" });
    await s.blocks.edit("persona", { append: "z", expectVersion: 1 });
  },
  "a merge from nowhere": (s) => s.blocks.edit("persona", { append: "z", merge: true }),
  "a text that is not in the block": (s) => s.blocks.edit("persona", { replace: "absent", with: "x" }),
  "a patch that does not fit": (s) => s.blocks.edit("persona", { patch: "@@ -1 +1 @@\n-no\n+yes\n" }),
  "settings that change nothing": (s) => s.blocks.configure("persona", { reason: "r" }),
  "a name of a block that is empty": (s) => s.blocks.get(""),
  "a name of a block that is no text": (s) => s.blocks.get(5 as never),
  "a fact that is not there": (s) => s.facts.retract("none"),
  "a fact on a message that is not there": (s) =>
    s.facts.upsert({ category: "c", content: "x", source: { message: "none" } }),
  "a fact that supersedes what is not there": (s) =>
    s.facts.upsert({ category: "c", content: "x", supersedes: ["none"] }),
  "an extraction without a session": (_, memory) => memory.session({ user: "ada" }).facts.extract(),
  "a user of a taken name": async (_, memory) => {
    await memory.users.ensure("taken");
    await memory.users.create("taken");
  },
  "a user of an empty name": (_, memory) => memory.users.get(""),
  "a session in no space": (_, memory) => memory.sessions.get({} as never, "s"),
  "a session that is not there": (_, memory) => memory.sessions.rename({ user: "ada" }, "none", "x"),
  "an admin of less than all": (_, memory) => memory.keys.create({ access: "admin", spaces: ["user"] }),
  "a key that has expired": (_, memory) => memory.keys.create({ access: "read", spaces: ["user"], expiresAt: 5 }),
  "an unknown role": (s) => s.add(message({ role: "boss" })),
  "an item of kind message": (s) => s.addItems([{ kind: "message", content: "x" }] as never),
  "no hits at all": (s) => s.query("x", { topK: 0 }),
  "a page of too many": (s) => s.list({ limit: 5000 }),
  "a confidence above one": (s) => s.facts.upsert({ category: "c", content: "x", confidence: 2 }),
  "a policy that is none": (s) => s.blocks.create({ name: "p", policy: "hope" as never }),
  "a name of 513 characters": (s) => s.get(["x".repeat(513)]),
};

/** Of another shape, and refused by the server's schemas: the code is equal, and the fields are named. */
const BY_THE_SCHEMAS: Calls = {
  "messages that are no list": (s) => s.add("hello" as never),
  "a message that is null": (s) => s.add([null] as never),
  "a message without content": (s) => s.add([{ role: "user" }] as never),
  "an unknown key of a message": (s) => s.add(message({ rol: "user" })),
  "rounds that are no list": (s) => s.addBatch({} as never),
  "a query that is no text": (s) => s.query(5 as never),
  "a number that is none": (s) => s.query("x", { topK: Number.NaN }),
  "an unknown option": (s) => s.query("x", { top: 5 } as never),
  "ids that are no list": (s) => s.get("m1" as never),
  "an edit in two ways": (s) => s.blocks.edit("persona", { append: "x", content: "y" } as never),
  "a fact without content": (s) => s.facts.upsert({ category: "c" } as never),
  "an unknown option of a history": (s) => s.blocks.history("persona", { last: 5 } as never),
  "an unknown option of promotions": (s) => s.promotions({ last: 5 } as never),
  "a message with a key __proto__": (s) => s.add([JSON.parse('{"role":"user","content":"x","__proto__":{}}')]),
  "a query with an option __proto__": (s) => s.query("x", JSON.parse('{"__proto__":{"topK":1}}')),
  "an edit in a turn with a key __proto__": async (s) => {
    const turn = s.turn();
    turn.push({ op: "edit_block", block: "persona", ...JSON.parse('{"append":"z","__proto__":{"x":1}}') });
    await s.commit(turn);
  },
  "a key for nothing": (_, memory) => memory.keys.create({ access: "read", spaces: [] }),
  "a retention of no time": (_, memory) => memory.users.retain("ada", 0),
};

function nested(depth: number): object {
  return depth === 0 ? {} : { a: nested(depth - 1) };
}

/** Ids that each memory has made for itself are not compared. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

async function refusalOf(call: Call, memory: Opened["memory"]): Promise<object> {
  try {
    const done = await call(memory.session(SCOPE), memory);
    return { done };
  } catch (error) {
    if (!(error instanceof HoldfastError || error instanceof ClientError)) throw error;
    const { code, message: text, hint, details } = error;
    return JSON.parse(JSON.stringify({ code, text, hint, details }).replaceAll(UUID, "an id"));
  }
}

export function itRefuses(opened: () => readonly Opened[]): void {
  const ask = async (call: Call) => Promise.all(opened().map(({ memory }) => refusalOf(call, memory)));

  it("know what the tests below are about", async () => {
    for (const { memory } of opened()) {
      await memory.session(SCOPE).add(SAID);
      await memory.session(SCOPE).blocks.create({ name: "persona", content: "x" });
    }
  });

  it.each(Object.keys(BY_THE_ENGINE))("refuse %s in the same words", async (what) => {
    const [local, remote] = await ask(BY_THE_ENGINE[what] as Call);
    expect(local).toMatchObject({ code: expect.any(String), text: expect.any(String) });
    expect(remote).toEqual(local);
  });

  it.each(Object.keys(BY_THE_SCHEMAS))("refuse %s with the same code", async (what) => {
    const [local, remote] = await ask(BY_THE_SCHEMAS[what] as Call);
    expect(local).toMatchObject({ code: "invalid_input" });
    expect(remote).toMatchObject({ code: "invalid_input", hint: expect.any(String), text: expect.any(String) });
    const { details } = remote as { readonly details: { readonly fields?: unknown; readonly field?: unknown } };
    expect(details.fields ?? details.field).toBeTruthy();
  });

  it("write nothing of what they refuse", async () => {
    const all = await Promise.all(opened().map(({ memory }: { memory: MemoryHandle }) => memory.session(SCOPE).list()));
    for (const { items } of all) expect(items.map(({ content }) => content)).toEqual(["first", "I moved to Lisbon"]);
  });
}
