/** A memory filled by chance with all that can be transferred, through the public doors only. */
import { exportLines, HoldfastError, type Memory, type NewMessage, type Scope, type SpaceRef } from "holdfast";
import type { Random } from "../support/random.js";

const TEXTS = [
  "I moved to Lisbon in May.",
  "naïve café, coöperate, e\u0301",
  "👩‍👩‍👧 family 🇵🇹 flag 🏳️‍🌈",
  "שלום עולם \u202Bmixed\u202C العربية",
  "日本語のメモ。改行\nと\ttab",
  "NUL \u0000 and half \uD800 a pair",
  '"quotes" \\ back\\slash \u2028 line separator \u2029',
  '{"type":"end","counts":{}}',
  "",
];
const NAMES = ["Ada", "Bob & Söhne", "א", "😀"];
const SPACES = [{ user: "ada" }, { user: "b\n o&b/é" }, { team: "crew" }, { agent: "tutor" }] as const;
/** The first steps add: one message is long, and one round is so large that it is written in parts. */
const LONG_MESSAGE = "m0-0";
const LARGE_ROUND = 2;
const DAY = 24 * 60 * 60 * 1000;
const PAST = Date.UTC(2026, 0, 1);

export async function fill(memory: Memory, random: Random, steps: number): Promise<void> {
  await memory.users.create("quiet", "somebody who has said nothing");
  await memory.users.create("ada", "a tutor's pupil, ✍️");
  await memory.users.retain("ada", 1000 * DAY);
  const world = new World(memory, random);
  for (let step = 0; step < steps; step++) await world.step(step);
}

class World {
  readonly #memory: Memory;
  readonly #random: Random;
  /** Ids of items by space, to be edited, deleted, rested on. */
  readonly #ids = new Map<string, string[]>();
  readonly #facts = new Map<string, string[]>();

  constructor(memory: Memory, random: Random) {
    this.#memory = memory;
    this.#random = random;
  }

  async step(step: number): Promise<void> {
    const space = this.#random.pick(SPACES);
    if (step <= LARGE_ROUND) return this.#add(space, step);
    switch (
      this.#random.weighted({
        add: 40,
        knowledge: 8,
        edit: 6,
        drop: 2,
        block: 14,
        fact: 22,
        point: 10,
        promote: 3,
        session: 3,
      })
    ) {
      case "add":
        return this.#add(space, step);
      case "knowledge":
        return this.#knowledge(space, step);
      case "edit":
        return this.#edit(space);
      case "drop":
        return this.#drop(space);
      case "block":
        return this.#block(space, step);
      case "fact":
        return this.#fact(space, step);
      case "point":
        return this.#point(space, step);
      case "promote":
        return this.#promote(space);
      case "session":
        await unlessTaken(this.#memory.sessions.create(space, `empty ${step}`, "guide"));
    }
  }

  async #add(space: SpaceRef, step: number): Promise<void> {
    const count = step === LARGE_ROUND ? 300 : this.#random.between(1, 4);
    const messages = Array.from({ length: count }, (_, at) => this.#message(`m${step}-${at}`));
    const { ids } = await this.#memory.session(this.#scope(space)).add(messages);
    listOf(this.#ids, space).push(...ids);
  }

  #scope(space: SpaceRef): Scope {
    const random = this.#random;
    const agent = random.chance(0.5) ? { agent: random.pick(["tutor", "guide"]) } : {};
    const session = random.chance(0.8) ? { session: random.pick(["monday", "sitzung ü", "😀"]) } : {};
    const [kind] = Object.keys(space) as ["user" | "team" | "agent"];
    return { ...agent, ...space, ...session, space: kind };
  }

  #message(id: string): NewMessage {
    const random = this.#random;
    const text = `${id} ${random.pick(TEXTS)}${id === LONG_MESSAGE ? " long".repeat(40_000) : ""}`;
    const parts = [
      { type: "text", text },
      { type: "image", description: random.pick(TEXTS), url: "somewhere", size: [1, 2] },
    ];
    return {
      ...(random.chance(0.5) && { id }),
      role: random.pick(["user", "assistant", "system", "tool"]),
      ...(random.chance(0.3) && { name: random.pick(NAMES) }),
      content: random.chance(0.2) ? parts : text,
      ...(random.chance(0.5) && { occurredAt: PAST + random.between(0, DAY) }),
      ...(random.chance(0.3) && { metadata: { topic: random.pick(TEXTS), deep: { list: [1, null, true, -0.5] } } }),
      ...(random.chance(0.2) && { tier: random.pick(["working", "semantic", "episodic"]) }),
      ...(random.chance(0.1) && { expiresAt: Date.now() + 100 * DAY }),
    };
  }

  async #knowledge(space: SpaceRef, step: number): Promise<void> {
    const kind = this.#random.pick(["knowledge", "fact"] as const); // an item of kind fact need not be a recorded fact
    const items = [{ kind, content: `known ${step} ${this.#random.pick(TEXTS)}` }] as const;
    const { ids } = await this.#memory.session(this.#scope(space)).addItems(items);
    listOf(this.#ids, space).push(...ids);
  }

  async #edit(space: SpaceRef): Promise<void> {
    const id = this.#anId(space);
    if (id === undefined) return;
    const patch = { content: `edited ${this.#random.pick(TEXTS)}`, metadata: { edited: true } };
    await this.#memory.session(space).update(id, patch);
  }

  async #drop(space: SpaceRef): Promise<void> {
    const ids = listOf(this.#ids, space);
    const [id] = ids.splice(this.#random.between(0, ids.length), 1);
    if (id === undefined) return;
    await this.#memory.session(space).delete([id]);
  }

  async #block(space: SpaceRef, step: number): Promise<void> {
    const random = this.#random;
    const { blocks } = this.#memory.session({ agent: "guide", ...space });
    const block = random.pick([undefined, ...(await blocks.list())]);
    if (!block) {
      const policy = random.pick(["manual", "archive"] as const);
      const settings = { maxTokens: 40, policy, description: random.pick(TEXTS) };
      await blocks.create({ name: `block ${step}`, content: random.pick(TEXTS), ...settings });
      return;
    }
    switch (block.readOnly ? "open" : random.weighted({ rename: 2, close: 2, edit: 6 })) {
      case "open":
        return void (await blocks.configure(block.name, { readOnly: false, reason: "open again" }));
      case "rename":
        return void (await blocks.rename(block.name, `renamed ${step}`, { actor: "someone" }));
      case "close":
        return void (await blocks.configure(block.name, { readOnly: true, maxTokens: 80 }));
      case "edit":
        await blocks.edit(block.name, { append: ` ${random.pick(TEXTS).repeat(5)}`, reason: `step ${step} ✍️` });
    }
  }

  async #fact(space: SpaceRef, step: number): Promise<void> {
    const random = this.#random;
    const { facts } = this.#memory.session({ ...space, ...(random.chance(0.3) && { session: "monday" }) });
    const known = listOf(this.#facts, space);
    const old = known.length > 0 ? random.pick(known) : undefined;
    const choice = old === undefined ? "new" : random.weighted({ new: 4, supersede: 3, end: 1, retract: 1, again: 2 });
    if (old !== undefined && choice === "end") return void (await unlessGone(facts.end(old)));
    if (old !== undefined && choice === "retract") return void (await unlessGone(facts.retract(old)));
    const [again] = old !== undefined && choice === "again" ? await facts.get([old]) : [];
    const said = again ?? {
      category: random.pick(["place", "taste ü"]),
      content: `fact ${step} ${random.pick(TEXTS)}`,
    };
    const message = random.chance(0.5) ? this.#anId(space) : undefined;
    const done = facts.upsert({
      ...{ category: said.category, content: said.content, confidence: random.between(0, 10) / 10 },
      pinned: random.chance(0.2),
      force: random.chance(0.3),
      ...(message !== undefined && { source: { message } }),
      validFrom: PAST + step * 1000 + random.between(-3000, 0),
      ...(old !== undefined && choice === "supersede" && { supersedes: old }),
    });
    const outcome = await unlessGone(done);
    if (outcome && !known.includes(outcome.fact.id)) known.push(outcome.fact.id);
  }

  async #point(space: SpaceRef, step: number): Promise<void> {
    const random = this.#random;
    const session = this.#memory.session(this.#scope(space));
    const collection = random.pick(["notes", "Bilder 🖼️"]);
    const { items } = await session.points.list(collection);
    if (items.length > 0 && random.chance(0.2)) {
      await session.points.delete(collection, [random.pick(items).id]);
      return;
    }
    const turn = session.turn();
    const vector = Array.from({ length: collection.length }, () => random.between(-1_000, 1_000) / 999 + 1e-9);
    const payload = random.pick([null, 5, random.pick(TEXTS).toWellFormed(), { list: [1, { "": false }] }]);
    turn.push({ op: "store_embedding", collection, pointId: `p${random.between(0, step)}`, vector, payload });
    await session.commit(turn);
  }

  async #promote(space: SpaceRef): Promise<void> {
    const id = this.#anId(space);
    const to = this.#random.pick(SPACES);
    if (id === undefined || to === space) return;
    await unlessTaken(
      this.#memory.session({ ...space }, { grants: [to] }).promote([id], { to, reason: "of use to all" }),
    );
  }

  #anId(space: SpaceRef): string | undefined {
    const ids = listOf(this.#ids, space);
    return ids.length > 0 ? this.#random.pick(ids) : undefined;
  }
}

function listOf(lists: Map<string, string[]>, space: SpaceRef): string[] {
  const name = JSON.stringify(space);
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

/** Chance may choose what went with something else, or what cannot rest on itself. */
const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> => unless(work, ["not_found", "invalid_input"]);
const unlessTaken = <T>(work: Promise<T>): Promise<T | undefined> => unless(work, ["conflict", "not_found"]);

async function unless<T>(work: Promise<T>, codes: readonly string[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HoldfastError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

export async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

export const exported = (memory: Memory): Promise<string[]> => linesOf(exportLines(memory));

type Fields = { readonly [key: string]: unknown };

/**
 * What of an export must come back: the lines without header and cursors, without what an import makes anew (times of
 * recording, versions of items), rounds counted from 1.
 */
export function lasting(lines: readonly string[]): readonly Fields[] {
  const rounds = new Map<string, number>();
  return lines
    .map((line) => JSON.parse(line) as Fields)
    .filter(({ type }) => type !== "cursor" && type !== "holdfast")
    .map(({ recordedAt: _, storedAt: _stored, ...fields }) => {
      if (fields["type"] === "block") return { ...fields, at: 0 };
      if (fields["type"] !== "item") return fields;
      const { version: _version, round, ...item } = fields;
      if (round === undefined) return item;
      const name = JSON.stringify([item["space"], item["session"], round]);
      const number = rounds.get(name) ?? rounds.size + 1;
      rounds.set(name, number);
      return { ...item, round: number };
    });
}
