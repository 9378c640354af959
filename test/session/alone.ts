/**
 * A user's life, run twice through the same interface: alone, and beside another user who writes between any two of its
 * calls. All returned numbers must be equal; otherwise a tenant could count what others write.
 */
import type { Session } from "holdfast";
import { expect, it } from "vitest";
import { until } from "../support/until.js";
import type { Opened } from "./doors.js";

const SCOPE = { user: "ada", agent: "tutor", session: "talk" };
const LAMP = { role: "user", content: "a lamp by the sea" } as const;

const LAST = "the last";

type Noise = () => Promise<void>;
type Told = readonly (readonly [what: string, answer: unknown])[];

/** What a user does, and asks; each call by its name. */
const LIFE: { readonly [what: string]: (ada: Session) => Promise<unknown> } = {
  add: (ada) =>
    ada.add([
      { id: "a", ...LAMP },
      { id: "r", role: "assistant", content: "a rope" },
    ]),
  "add in a batch": (ada) => ada.addBatch([[{ id: "c", ...LAMP }], [{ id: "b", ...LAMP }]]),
  "add items": (ada) => ada.addItems([{ id: "k", kind: "knowledge", content: "lamps are bright" }]),
  "add once": (ada) => ada.add([{ id: "d", ...LAMP }], { idempotencyKey: "key" }),
  "add once more": (ada) => ada.add([{ id: "d", ...LAMP }], { idempotencyKey: "key" }),
  "add what is there": (ada) => ada.add([{ id: "a", ...LAMP }]),
  turn: (ada) => {
    const turn = ada.turn();
    turn.push({ op: "save_message", message: { id: "t", role: "user", content: "I moved to Lisbon" } });
    turn.push({
      op: "upsert_fact",
      category: "home",
      content: "lives in Lisbon",
      confidence: 0.5,
      sourceSession: "talk",
    });
    return ada.commit(turn);
  },
  update: (ada) => ada.update("a", { content: "a lantern by the sea" }),
  fact: (ada) => ada.facts.upsert({ category: "home", content: "lives in Porto" }),
  facts: (ada) => ada.facts.list({ limit: 1 }),
  block: (ada) => ada.blocks.create({ name: "persona", content: "kind" }),
  "edit of a block": (ada) => ada.blocks.edit("persona", { content: "stern", reason: "asked" }),
  "history of a block": (ada) => ada.blocks.history("persona"),
  flush: (ada) => ada.flush(),
  query: (ada) => ada.query("lamp sea", { explain: true }),
  context: (ada) => ada.context({ query: "where do I live" }),
  ledger: (ada) => ada.ledger(),
  conversation: async (ada) => (await ada.conversation()).formatContext(),
  list: (ada) => ada.list({ limit: 2 }),
  get: (ada) => ada.get(["a", "b"]),
  parked: (ada) => ada.parked(),
  replay: (ada) => ada.replay(),
  conflict: (ada) => ada.update("a", { content: "late" }, { expectVersion: 1 }),
  delete: (ada) => ada.delete(["b", "not there"]),
  forget: (ada) => ada.forget(),
  "add to what is new again": (ada) => ada.add([{ id: LAST, ...LAMP }]),
};

export function itTellsNothingOfOthers(open: () => Promise<Opened>): void {
  it("gets the same numbers whether or not another user writes in between", async () => {
    const alone = await live(open, () => async () => {});
    const beside = await live(open, noiseOf);
    expect(beside.map(([what]) => what)).toEqual(alone.map(([what]) => what));
    for (const [at, [what, answer]] of alone.entries()) expect([what, beside[at]?.[1]]).toEqual([what, answer]);
    expect(numbersIn(alone).length).toBeGreaterThan(100);
  });
}

/** Another user, who adds, edits, learns and forgets; each time a little more than before. */
function noiseOf({ memory }: Opened): Noise {
  let times = 0;
  return async () => {
    const bob = memory.session({ user: "bob", agent: "clerk", session: `noise ${++times}` });
    const { ids } = await bob.addBatch(Array.from({ length: times % 5 }, () => [LAMP])).then((added) => ({
      ids: added.flatMap((one) => one.ids),
    }));
    for (const id of ids.slice(1)) await bob.update(id, { content: `a lamp of ${times}` });
    await bob.facts.upsert({ category: "noise", content: `noise ${times}` });
    await bob.delete(ids.slice(0, 1));
    await memory.session({ user: `passer-by ${times}`, session: "s" }).add([LAMP]);
    if (times % 4 === 0) await memory.forget({ user: `passer-by ${times}` });
  };
}

async function live(open: () => Promise<Opened>, noisy: (opened: Opened) => Noise): Promise<Told> {
  const opened = await open();
  const ending = new AbortController();
  const told: [what: string, answer: unknown][] = [];
  const events: object[] = [];
  try {
    const ada = opened.memory.session(SCOPE);
    const noise = noisy(opened);
    const listening = listen(opened.events({ user: "ada" }, ending.signal), events);
    await until(async () => {
      await opened.memory.session({ user: "ada", session: "before" }).add([LAMP]);
      return events.length > 0;
    });
    await opened.memory.forget({ user: "ada" });
    await until(() => events.some((event) => "type" in event && event.type === "forgotten"));
    events.length = 0;
    for (const [what, call] of Object.entries(LIFE)) {
      await noise();
      await opened.memory.flush(); // so that what is embedded depends on nobody's pace
      told.push([what, plain(await call(ada).catch((error: unknown) => error))]);
    }
    const lines: string[] = [];
    for await (const line of opened.lines({ user: "ada" })) lines.push(line);
    told.push(["export", lines.map((line) => plain(JSON.parse(line)))]);
    await until(() => events.some((event) => JSON.stringify(event).includes(`["${LAST}"]`)));
    const ofMeaning = new Set(["transferred", "flushed"]); // come when they come
    told.push(["events", events.map(plain).filter((event) => !ofMeaning.has((event as { type: string }).type))]);
    ending.abort();
    await listening;
    return told;
  } finally {
    ending.abort();
    await opened.close();
  }
}

async function listen(stream: AsyncIterable<object>, into: object[]): Promise<void> {
  for await (const event of stream) into.push(event);
}

/** As a caller can compare it: without names made at random, sealed cursors, and what was measured. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(
    value instanceof Error ? { ...value, message: value.message } : value,
    (name, inner: unknown) => {
      if (/ms$/i.test(name) || name === "next" || name === "cursor") return "…";
      return typeof inner === "string" ? inner.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id") : inner;
    },
  );
  return text === undefined ? undefined : JSON.parse(text);
}

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
