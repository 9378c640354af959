/** What is said, asked, listed, edited and forgotten: the same in this process and behind a server. */
import type { NewMessage, Session } from "holdfast";
import { expect, it } from "vitest";
import { until } from "../support/until.js";
import type { Opened } from "./doors.js";

const said = (id: string, content: string, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  role: "user",
  content,
  ...more,
});
const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

export function itItems(opened: () => Opened): void {
  const session = (user: string, name = "first"): Session =>
    opened().memory.session({ user, agent: "tutor", session: name });

  it("adds messages with all they carry, and gives them back", async () => {
    const ada = session("ada");
    const at = new Date("2025-05-01T10:00:00Z");
    const message = {
      id: "m1",
      role: "assistant",
      name: "Tutor & Co",
      content: [
        { type: "text", text: "A picture of Lisbon" },
        { type: "image", description: "the river", url: "data:," },
      ],
      occurredAt: at,
      expiresAt: "2030-01-01",
      metadata: { topic: "travel", deep: { list: [1, null, "é"] }, "": true },
      tier: "semantic",
    } as const;
    const added = await ada.add([message, said("m2", "lone \ud800 surrogate, NUL \0, emoji 🦫")]);
    expect(added).toMatchObject({ ids: ["m1", "m2"], sequences: [1, 2], repeated: false });
    expect(await ada.get(["m2", "absent", "m1"])).toEqual([
      expect.objectContaining({ id: "m2", content: "lone \ufffd surrogate, NUL \ufffd, emoji 🦫", metadata: {} }),
      {
        ...message,
        kind: "message",
        space: { user: "ada" },
        session: "first",
        sessionId: expect.any(String),
        agent: "tutor",
        sequence: 1,
        round: 1,
        content: "A picture of Lisbon\n[image: the river]",
        parts: message.content,
        occurredAt: at.getTime(),
        expiresAt: Date.UTC(2030, 0, 1),
        recordedAt: opened().clock.now(),
        updatedAt: opened().clock.now(),
        version: 1,
      },
    ]);
    expect(await ada.add([])).toMatchObject({ ids: [], sequences: [], repeated: false });
    const own = await ada.add([{ role: "user", content: "an id is made" }]);
    expect(own.ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it("keeps metadata.__proto__ and its like, on every level, and filters by them", async () => {
    const ada = session("prototypes");
    const odd = [
      '{"__proto__":"x"}',
      '{"__proto__":{"__proto__":"x"}}',
      '{"constructor":"x"}',
      '{"toString":"x","hasOwnProperty":"x"}',
      '{"a":{"__proto__":"x"},"list":[{"__proto__":"x"}]}',
      '{"$":"x","$.a":"x","it\'s \\"quoted\\"":"x","[0]":"x"}',
    ];
    const parts = () => JSON.parse('[{"type":"text","text":"tea","__proto__":{"own":1}}]') as NewMessage["content"];
    const metadataOf = (text: string) => ({ metadata: JSON.parse(text) as { [key: string]: string } });
    for (const [at, text] of odd.entries()) await ada.add([said(`p${at}`, "tea", metadataOf(text))]);
    await ada.add([said("parts", "", { content: parts() }), said("plain", "tea")]);

    const items = await ada.get(odd.map((_, at) => `p${at}`));
    expect(items.map(({ metadata }) => JSON.stringify(metadata))).toEqual(odd);
    expect(JSON.stringify((await ada.get(["parts"]))[0]?.parts)).toBe(JSON.stringify(parts()));

    const found = async (filter: string) => {
      const hits = idsOf(await ada.query("tea", { topK: 50, ...metadataOf(filter) })).toSorted();
      expect(idsOf((await ada.list(metadataOf(filter))).items).toSorted()).toEqual(hits);
      return hits;
    };
    expect(await found('{"__proto__":"x"}')).toEqual(["p0"]);
    expect(await found('{"__proto__.__proto__":"x"}')).toEqual(["p1"]);
    expect(await found('{"__proto__":["y","z"]}')).toEqual([]);
    expect(await found('{"constructor":"x"}')).toEqual(["p2"]);
    expect(await found('{"toString":"x","hasOwnProperty":"x"}')).toEqual(["p3"]);
    expect(await found('{"a.__proto__":"x"}')).toEqual(["p4"]);
    expect(await found('{"$":"x","it\'s \\"quoted\\"":"x","[0]":"x"}')).toEqual(["p5"]);
    expect(await found('{"valueOf":null}')).toEqual([]);

    await ada.update("plain", metadataOf('{"__proto__":"y"}'));
    expect(await found('{"__proto__":"y"}')).toEqual(["plain"]);
  });

  it("adds nothing twice under one idempotency key, in whatever letters it is written", async () => {
    const ada = session("keyed");
    for (const idempotencyKey of ["plain", "mit Umlaut ü und Leerzeichen", "🦫", "UTF-8''x"]) {
      const first = await ada.add([{ role: "user", content: "once" }], { idempotencyKey });
      expect(first.repeated).toBe(false);
      expect(await ada.add([{ role: "user", content: "once" }], { idempotencyKey })).toMatchObject({
        ids: first.ids,
        sequences: first.sequences,
        repeated: true,
      });
      await expect(ada.add([{ role: "user", content: "other" }], { idempotencyKey })).rejects.toMatchObject({
        code: "conflict",
      });
    }
    expect((await ada.list()).items).toHaveLength(4);
    const rounds = [[said("r1", "one")], [said("r2", "two"), said("r3", "three")]];
    const batch = await ada.addBatch(rounds, { idempotencyKey: "batch" });
    expect(batch).toMatchObject([{ ids: ["r1"] }, { ids: ["r2", "r3"] }]);
    expect((await ada.addBatch(rounds, { idempotencyKey: "batch" })).every(({ repeated }) => repeated)).toBe(true);
  });

  it("says which rounds of a batch failed, and keeps the others", async () => {
    const ada = session("batch");
    await ada.add([said("taken", "there")]);
    const failing = ada.addBatch([[said("b1", "fine")], [said("taken", "not the same")], [said("b3", "fine too")]]);
    await expect(failing).rejects.toMatchObject({
      code: "conflict",
      details: { added: [{ ids: ["b1"] }, { ids: ["b3"] }], failed: [{ round: 1, code: "conflict" }] },
    });
    expect(idsOf(await ada.get(["b1", "b3"]))).toEqual(["b1", "b3"]);
  });

  it("adds knowledge, which belongs to the space", async () => {
    const ada = opened().memory.session({ user: "wise" });
    await ada.addItems([{ id: "k1", kind: "knowledge", content: "Whales are mammals", metadata: { source: "book" } }]);
    expect([...(await ada.query("whales", { kind: "knowledge" }))]).toMatchObject([{ id: "k1", kind: "knowledge" }]);
  });

  it("answers a query as a frozen list with remarks on it", async () => {
    const ada = session("curious");
    await session("curious", "second").add([said("q1", "I moved to Lisbon in May")]);
    await ada.add([said("q2", "Lisbon is loud", { metadata: { mood: "tired" } }), said("q3", "the cat sleeps")]);
    const hits = await ada.query("Lisbon");
    expect(idsOf(hits).toSorted().slice(0, 2)).toEqual(["q1", "q2"]);
    expect(hits.partial).toBe(false);
    expect(hits.degraded).toBeUndefined();
    expect("explanation" in hits).toBe(false);
    expect(hits.find(({ id }) => id === "q1")).toMatchObject({ scope: "cross_session", session: "second" });
    expect(hits.find(({ id }) => id === "q2")).toMatchObject({ scope: "in_session", score: expect.any(Number) });
    expect([hits, hits[0], hits[0]?.metadata, hits[0]?.space].every(Object.isFrozen)).toBe(true);
    expect(hits.map).toBe(Array.prototype.map);
  });

  it("takes every option of a query", async () => {
    const user = "narrow";
    const at = (day: number) => new Date(Date.UTC(2025, 0, day));
    await session(user).add([
      said("o1", "harbour lights", { occurredAt: at(1), metadata: { n: 1, deep: { x: "y" } } }),
      said("o2", "harbour fog", { occurredAt: at(2), role: "assistant", tier: "semantic" }),
    ]);
    await session(user, "other").add([said("o3", "harbour crane", { occurredAt: at(3) })]);
    await opened()
      .memory.session({ user, agent: "pilot", session: "third" })
      .add([said("o4", "harbour master", { occurredAt: at(4) })]);
    const ask = async (options: Parameters<Session["query"]>[1]) =>
      idsOf(await session(user).query("harbour", options)).toSorted();
    expect(await ask({})).toEqual(["o1", "o2", "o3", "o4"]);
    expect(await ask({ topK: 2 })).toHaveLength(2);
    expect(await ask({ topK: 2, offset: 3 })).toHaveLength(1);
    expect(await ask({ within: "session" })).toEqual(["o1", "o2"]);
    expect(await ask({ within: "agent" })).toEqual(["o1", "o2", "o3"]);
    expect(await ask({ session: ["other", "third"] })).toEqual(["o3", "o4"]);
    expect(await ask({ agent: "pilot" })).toEqual(["o4"]);
    expect(await ask({ role: "assistant" })).toEqual(["o2"]);
    expect(await ask({ tier: ["semantic", "working"] })).toEqual(["o2"]);
    expect(await ask({ kind: "knowledge" })).toEqual([]);
    expect(await ask({ from: at(2), to: "2025-01-04" })).toEqual(["o2", "o3"]);
    expect(await ask({ metadata: { "deep.x": ["y", null] } })).toContain("o1");
    expect(await ask({ metadata: { n: 1 } })).toEqual(["o1"]);
    expect(await ask({ askedAt: at(2), recency: 0.5, deadlineMs: 5000 })).toEqual(["o1", "o2"]);
    const byTime = await session(user).query("harbour", { sortBy: "timestamp", order: "asc" });
    expect(idsOf(byTime)).toEqual(["o1", "o2", "o3", "o4"]);
    await session(user).flush();
    expect(await ask({ bufferOnly: true })).toEqual([]);
    const explained = await session(user).query("harbour", { explain: ["nowhere"], topK: 1 });
    expect(explained.explanation).toMatchObject({
      question: { text: "harbour", terms: ["harbour"] },
      missing: [{ id: "nowhere" }],
    });
    expect(explained[0]?.why).toMatchObject({ words: { score: expect.any(Number) } });
  });

  it("pages through a list, in both orders, narrowed as a query is", async () => {
    const ada = session("lists");
    for (const n of [1, 2, 3, 4, 5]) await ada.add([said(`l${n}`, `line ${n}`, { metadata: { odd: n % 2 === 1 } })]);
    const first = await ada.list({ limit: 2, order: "asc" });
    expect(idsOf(first.items)).toEqual(["l1", "l2"]);
    const rest = await ada.list({ limit: 10, order: "asc", ...(first.next !== undefined && { cursor: first.next }) });
    expect(idsOf(rest.items)).toEqual(["l3", "l4", "l5"]);
    expect("next" in rest).toBe(false);
    expect(idsOf((await ada.list({ metadata: { odd: true }, sortBy: "arrival" })).items)).toEqual(["l5", "l3", "l1"]);
    expect((await ada.list({ from: new Date(opened().clock.now() + 1) })).items).toEqual([]);
    expect(idsOf((await ada.list({ start: "l3", limit: 2, order: "asc" })).items)).toEqual(["l3", "l4"]);
    expect(idsOf((await ada.list({ start: "l3", limit: 2 })).items)).toEqual(["l3", "l2"]);
    await expect(ada.list({ start: "absent" })).rejects.toMatchObject({ code: "not_found", details: { id: "absent" } });
    await expect(ada.list({ start: "l3", cursor: first.next as string })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("edits an item, and refuses to edit another version than the one named", async () => {
    const ada = session("edits");
    await ada.add([said("e1", "before", { name: "Ada", expiresAt: "2030-01-01" })]);
    const patch = { content: "after", name: null, expiresAt: null, occurredAt: new Date(5), metadata: { v: 2 } };
    expect(await ada.update("e1", patch, { expectVersion: 1 })).toBe(2);
    const [item] = await ada.get(["e1"]);
    expect(item).toMatchObject({ content: "after", occurredAt: 5, metadata: { v: 2 }, version: 2 });
    expect(item && ("name" in item || "expiresAt" in item)).toBe(false);
    await expect(ada.update("e1", { content: "late" }, { expectVersion: 1 })).rejects.toMatchObject({
      code: "conflict",
      details: { version: 2 },
    });
    expect((await ada.query("before")).map(({ content }) => content)).toEqual(["after"]);
  });

  it("deletes by id and forgets the session, with a receipt", async () => {
    const ada = session("gone");
    await ada.add([said("g1", "one"), said("g2", "two"), said("g3", "three")]);
    const receipt = await ada.delete(["g1", "nowhere"]);
    expect(receipt).toMatchObject({ items: 1, missing: ["nowhere"], purged: true });
    // A client's adds carry keys, which are kept for its retries.
    expect(receipt.left.filter(({ what }) => !what.startsWith("idempotency keys"))).toEqual([]);
    expect(await ada.forget()).toMatchObject({ items: 2, sessions: 1, missing: [], purged: true });
    expect((await ada.list()).items).toEqual([]);
  });

  it("commits a turn in one transaction, and keeps it if that fails", async () => {
    const ada = session("turns");
    await ada.blocks.create({ name: "persona", content: "lives in Porto" });
    const turn = ada.turn(3);
    expect(
      turn.push({ op: "save_message", message: { role: "user", content: "I moved", occurredAt: new Date(7) } }),
    ).toBe(false);
    turn.push({ op: "upsert_fact", category: "home", content: "lives in Lisbon", confidence: 0.9 });
    const edit = { op: "edit_block", block: "persona", replace: "Porto", with: "Lisbon", reason: "moved" } as const;
    expect(turn.push(edit)).toBe(true);
    const added = await ada.commit(turn);
    expect(added).toMatchObject({ sequences: [1], repeated: false });
    expect(turn.isEmpty).toBe(true);
    expect(await ada.get(added.ids)).toMatchObject([{ content: "I moved", occurredAt: 7 }]);
    expect(await ada.blocks.get("persona")).toMatchObject({ content: "lives in Lisbon", version: 2 });
    expect((await ada.facts.list()).items).toMatchObject([{ category: "home", content: "lives in Lisbon" }]);

    turn.push({ op: "save_message", message: { role: "user", content: "again" } });
    turn.push({ op: "edit_block", block: "nowhere", append: "x" });
    await expect(ada.commit(turn)).rejects.toMatchObject({ code: "not_found", details: { name: "nowhere" } });
    const [kept, failed] = turn.drain();
    expect(failed).toMatchObject({ op: "edit_block" });
    expect(kept).toMatchObject({ op: "save_message", message: { content: "again", id: expect.any(String) } });
    expect((await ada.list()).items).toHaveLength(1);
    expect(await ada.commit(ada.turn())).toMatchObject({ ids: [], sequences: [], repeated: false });
  });

  it.each([
    ["another user", { user: "turn-thief", agent: "tutor", session: "s" }],
    ["another session of the same user", { user: "turn-owner", agent: "tutor", session: "t" }],
    ["another agent of the same user", { user: "turn-owner", agent: "critic", session: "s" }],
    ["the same user without a session", { user: "turn-owner", agent: "tutor" }],
  ])("refuses to let %s commit its turn", async (_, scope) => {
    const { memory } = opened();
    const owner = memory.session({ user: "turn-owner", agent: "tutor", session: "s" });
    const turn = owner.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "the owner's alone" } });
    const other = memory.session(scope);
    const refused = { code: "invalid_input", message: "turn belongs to another scope", hint: expect.any(String) };
    await expect(other.commit(turn)).rejects.toMatchObject(refused);
    expect(turn.length).toBe(1);
    expect((await other.list()).items).toEqual([]);
    await memory.session(owner.scope).commit(turn);
    expect((await owner.list()).items).toMatchObject([{ content: "the owner's alone" }]);
    expect(await owner.commit(turn)).toMatchObject({ ids: [] });
    await owner.forget();
  });

  it.each([[undefined], [null], [{}], [[]]])("refuses to commit %o, which is no turn", async (turn) => {
    const refused = { code: "invalid_input", hint: expect.any(String) };
    await expect(session("no-turns").commit(turn as never)).rejects.toMatchObject(refused);
  });

  it("keeps a conversation of the last turns", async () => {
    const ada = session("talks");
    await ada.add([said("t1", "Hello")]);
    const conversation = await ada.conversation({ maxTurns: 2 });
    await conversation.recordTurn("assistant", "Good morning");
    await conversation.recordTurn("user", "What is new?");
    expect(conversation.turns.map(({ content }) => content)).toEqual(["Good morning", "What is new?"]);
    expect(conversation.turns[0]?.timestamp).toBe(opened().clock.now());
    const again = await session("talks").conversation({ maxTurns: 3 });
    expect(again.turns.map(({ content }) => content)).toEqual(["Hello", "Good morning", "What is new?"]);
    await expect(opened().memory.session({ user: "talks" }).conversation()).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("parks what cannot be embedded, and tries it again when asked to", async () => {
    const ada = session("ill");
    await ada.add([said("p1", "some poison"), said("p2", "some water")]);
    expect(await ada.flush()).toEqual({ pending: 0, parked: 1 });
    const listed = await ada.list({ order: "asc", embedding: true });
    expect(listed.items.map(({ embedding }) => embedding)).toEqual([
      { state: "parked", attempts: 1, error: expect.any(String) },
      { state: "stored" },
    ]);
    await ada.add([said("p3", "more water")]);
    const third = async () => (await ada.list({ limit: 1, embedding: true })).items[0]?.embedding?.state;
    await until(async () => (await third()) === "embedded");
    await ada.flush();
    expect(await third()).toBe("stored");
    const { items } = await ada.parked({ limit: 5 });
    expect(items).toMatchObject([{ id: "p1", session: "first", space: { user: "ill" }, attempts: 1, version: 1 }]);
    expect(await ada.replay(["p2"])).toBe(0);
    expect(await ada.replay()).toBe(1);
    expect(await ada.delete(["p1"])).toMatchObject({ items: 1 });
    expect(await ada.flush()).toEqual({ pending: 0, parked: 0 });
  });

  it("works for names that URLs would misread", async () => {
    for (const name of ["a b&c=d", "50%", "%41", "a/b?c#d", "ü+ö", "🦫 castor", "../up", "a\nb", "'\"<>"]) {
      const odd = opened().memory.session({ user: name, agent: name, session: name });
      await odd.add([said(name, `the beaver ${name}`)]);
      expect(await odd.update(name, { tier: "working" })).toBe(2);
      expect([...(await odd.query("beaver", { within: "session" }))]).toMatchObject([
        { id: name, session: name, agent: name },
      ]);
      await odd.blocks.create({ name, content: "dam" });
      expect(await odd.blocks.get(name)).toMatchObject({ name, space: { user: name } });
      expect(await odd.blocks.version(name, 1)).toBe("dam");
      expect(await opened().memory.users.get(name)).toMatchObject({ name });
      expect(await opened().memory.users.describe(name, "odd")).toMatchObject({ name, description: "odd" });
    }
  });
}
