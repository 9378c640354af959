/** The write path through the public API: atomic, in order, exactly once, fair. */
import type { Added, HoldfastError, NewMessage } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";

const say = (content: string): NewMessage => ({ role: "user", content });
const many = (count: number, word = "message"): NewMessage[] =>
  Array.from({ length: count }, (_, at) => say(`${word} ${at}`));

/** A word of letters only, so that no part of it is a word of another. */
const word = (at: number): string => `xq${[...at.toString()].map((digit) => "abcdefghij"[Number(digit)]).join("")}z`;

describe("add", () => {
  it("is found by query and list as soon as it returns", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", agent: "tutor", session: "s" });
    for (let at = 0; at < 50; at++) {
      const { ids } = await session.add([say(`fact number ${word(at)}`)]);
      expect((await session.query(word(at)))[0]?.id).toBe(ids[0]);
      expect((await session.list({ limit: 1 })).items[0]?.id).toBe(ids[0]);
    }
  });

  it("makes one commit for all waiting callers, and one caller's conflict fails no other", async () => {
    const memory = await open({ path: newPath() });
    await memory.session({ user: "ada", session: "s0" }).add([{ ...say("taken"), id: "taken" }]);
    const groups = async () => (await memory.stats()).write.totalGroups;
    const before = await groups();
    const calls = Array.from({ length: 40 }, (_, at) =>
      memory
        .session({ user: "ada", session: `s${at % 8}` })
        .add(at === 17 ? [say("first of a failing pair"), { ...say("other"), id: "taken" }] : [say(`call ${at}`)]),
    );
    const results = await Promise.allSettled(calls);
    const failed = results.flatMap((result, at) => (result.status === "rejected" ? [at] : []));
    expect(failed).toEqual([17]);
    expect((results[17] as PromiseRejectedResult).reason).toMatchObject({ code: "conflict", details: { id: "taken" } });
    expect((await groups()) - before).toBeLessThan(5);
    expect(await memory.session({ user: "ada" }).query("failing")).toHaveLength(0);
    expect((await memory.session({ user: "ada" }).list({ limit: 100 })).items).toHaveLength(40);
  });

  it("needs no session, alone or as a batch: the messages are the user's", async () => {
    const memory = await open({ path: ":memory:" });
    const ada = memory.session({ user: "ada" });
    await ada.add([say("a blue kettle")]);
    await ada.addBatch([[say("a green lamp")], [say("a red door"), say("a white door")]]);
    const { items } = await ada.list({ order: "asc" });
    expect(items.map(({ content, session }) => [content, session])).toEqual([
      ["a blue kettle", undefined],
      ["a green lamp", undefined],
      ["a red door", undefined],
      ["a white door", undefined],
    ]);
    expect((await ada.query("kettle"))[0]?.content).toBe("a blue kettle");
    expect(await memory.session({ user: "bob" }).query("kettle")).toHaveLength(0);
  });

  it("does not wait for others: alone it is written without delay", async () => {
    const clock = new FakeClock();
    const memory = await open({ path: ":memory:", clock });
    for (let at = 1; at <= 3; at++) {
      await memory.session({ user: "ada", session: "s" }).add([say(`message ${at}`)]);
      expect((await memory.stats()).write).toMatchObject({ totalGroups: at, waitingWrites: 0 });
    }
  });

  it("keeps the order of calls that were not awaited, without a gap", async () => {
    const memory = await open({ path: newPath() });
    const session = memory.session({ user: "ada", session: "s" });
    const calls: Promise<Added>[] = [];
    for (let at = 0; at < 300; at++) calls.push(session.add(at === 5 ? many(400, "large") : [say(`call ${at}`)]));
    const answers = await Promise.all(calls);
    expect(answers.flatMap(({ sequences }) => sequences)).toEqual(Array.from({ length: 699 }, (_, at) => at + 1));
  });

  it("lets single adds through while batches of 10,000 messages run", async () => {
    const path = newPath();
    const memory = await open({ path });
    const single = memory.session({ user: "ada", session: "single" });
    let running = true;
    const batches = Promise.all([
      memory.session({ user: "bob", session: "add" }).add(many(10_000)),
      memory.session({ user: "eve", session: "batch" }).addBatch(many(10_000).map((message) => [message])),
    ]).finally(() => {
      running = false;
    });
    while (running) await single.add([say("me too")]);
    await batches;
    await memory.close();
    // How many messages of the batches were written before each single one that was waiting: a group or two of 256.
    const database = openRaw(path);
    const rows = database.prepare("SELECT content = 'me too' AS single FROM item ORDER BY key").all();
    database.close();
    const gaps = [0];
    for (const row of rows) {
      if (row["single"]) gaps.push(0);
      else gaps.push(Number(gaps.pop()) + 1);
    }
    expect(rows.length - gaps.length + 1).toBe(20_000);
    expect(gaps.length).toBeGreaterThan(20);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1_024);
  });

  it("answers a retry with the first answer, and a reused key with a conflict", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const first = await session.add(many(3), { idempotencyKey: "k" });
    const again = await session.add(many(3), { idempotencyKey: "k" });
    expect(again).toEqual({ ...first, repeated: true });
    await expect(session.add(many(4), { idempotencyKey: "k" })).rejects.toMatchObject({ code: "conflict" });
    const elsewhere = await memory.session({ user: "ada", session: "t" }).add(many(3), { idempotencyKey: "k" });
    expect(elsewhere.repeated).toBe(false);
    const bob = await memory.session({ user: "bob", session: "s" }).add(many(3), { idempotencyKey: "k" });
    expect(bob.repeated).toBe(false);
    await memory.close();
    const reopened = await open({ path });
    const later = await reopened.session({ user: "ada", session: "s" }).add(many(3), { idempotencyKey: "k" });
    expect(later).toMatchObject({ ids: first.ids, sequences: first.sequences, repeated: true });
    expect((await reopened.session({ user: "ada", session: "s" }).list()).items).toHaveLength(3);
  });

  it("writes an add of any size in order, exactly once, also when it is retried", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const first = await session.add(many(1_000), { idempotencyKey: "large" });
    expect(first.sequences).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
    expect(new Set((await session.list({ limit: 1_000 })).items.map(({ round }) => round))).toEqual(new Set([1]));
    expect(await session.add(many(1_000), { idempotencyKey: "large" })).toMatchObject({
      ids: first.ids,
      repeated: true,
    });
    // A retry with more messages must not write the surplus.
    await expect(session.add(many(1_500), { idempotencyKey: "large" })).rejects.toMatchObject({ code: "conflict" });
    expect((await memory.stats()).store.items).toBe(1_000);
  });

  it("reports how far a large add came before one of its messages conflicted", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ ...say("here first"), id: "taken" }]);
    const messages = many(1_000);
    messages[700] = { ...say("too late"), id: "taken" };
    const error = (await session.add(messages).catch((reason: unknown) => reason)) as HoldfastError;
    expect(error.code).toBe("conflict");
    const written = error.details["written"] as number;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThanOrEqual(700);
    expect((await memory.stats()).store.items).toBe(1 + written);
  });

  it("takes the same message id with the same payload as the same message", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const first = await session.add([{ ...say("hello"), id: "m1", metadata: { a: 1 } }]);
    const again = await session.add([{ ...say("hello"), id: "m1", metadata: { a: 1 } }]);
    expect(again).toEqual({ ...first, repeated: true });
    await expect(session.add([{ ...say("other"), id: "m1" }])).rejects.toMatchObject({ code: "conflict" });
    const bob = await memory.session({ user: "bob", session: "s" }).add([{ ...say("bob's"), id: "m1" }]);
    expect(bob.repeated).toBe(false);
  });

  it("of a batch names the rounds that failed and writes the others", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ ...say("here first"), id: "taken" }]);
    const rounds = [[say("one")], [say("lost"), { ...say("x"), id: "taken" }], [say("three")]];
    const error = (await session.addBatch(rounds).catch((reason: unknown) => reason)) as HoldfastError;
    expect(error).toMatchObject({ code: "conflict", details: { failed: [{ round: 1, code: "conflict" }] } });
    expect(error.details["added"]).toHaveLength(2);
    const contents = (await session.list({ order: "asc" })).items.map(({ content }) => content);
    expect(contents).toEqual(["here first", "one", "three"]);
  });

  it("of a batch with a key adds nothing when it is retried", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const rounds = [many(2), many(300), many(1)];
    const first = await session.addBatch(rounds, { idempotencyKey: "b" });
    const again = await session.addBatch(rounds, { idempotencyKey: "b" });
    expect(again.map(({ ids }) => ids)).toEqual(first.map(({ ids }) => ids));
    expect(again.every(({ repeated }) => repeated)).toBe(true);
    expect((await memory.stats()).store.items).toBe(303);
  });

  it("of nothing writes nothing", async () => {
    const memory = await open({ path: ":memory:" });
    expect(await memory.session({ user: "ada", session: "s" }).add([])).toMatchObject({ ids: [], sequences: [] });
    expect(await memory.session({ user: "ada" }).addBatch([])).toEqual([]);
    expect(await memory.users.get("ada")).toBeUndefined();
  });

  it("after close is refused, before close is written", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const pending = Promise.all(Array.from({ length: 20 }, (_, at) => session.add([say(`pending ${at}`)])));
    const report = await memory.close();
    await pending;
    expect(report.items).toBe(20);
    expect(await memory.close()).toEqual(report);
    await expect(session.add([say("late")])).rejects.toMatchObject({ code: "closed" });
    await expect(session.query("pending")).rejects.toMatchObject({ code: "closed" });
    const again = await open({ path });
    expect(await again.session({ user: "ada" }).query("pending", { topK: 100 })).toHaveLength(20);
  });
});
