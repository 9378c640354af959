/** Random operations. They name places by slot and items by number; the comparison resolves them when they run. */
import fc from "fast-check";
import type { ItemPatch, NewItem, QueryOptions } from "holdfast";
import { AGENT_SLOTS, SESSION_SLOTS, SPACE_SLOTS } from "./conversation.js";

export const START = Date.UTC(2026, 3, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** An item to add; times are relative to the add. */
export interface Draft extends Omit<NewItem, "id" | "occurredAt" | "expiresAt"> {
  readonly content: string;
  readonly agoMs: number;
  readonly livesMs?: number;
}

/** A question; sessions and agents by slot. */
export interface Question {
  readonly text: string;
  /** The scope of the question. */
  readonly space: number;
  readonly session?: number;
  readonly agent?: number;
  /** The spaces to search instead of its own; `ghost` is a name that the first of them does not have now. */
  readonly spaces?: readonly number[];
  readonly ghost: boolean;
  readonly sessions?: readonly number[];
  readonly agents?: readonly number[];
  readonly within?: "user" | "session" | "agent";
  readonly fields: Pick<QueryOptions, "role" | "kind" | "tier" | "metadata">;
  /** Days before the start, for `from`, `to` and `askedAt`. */
  readonly from?: number;
  readonly to?: number;
  readonly askedAt?: number;
  readonly shown: Pick<QueryOptions, "topK" | "offset" | "sortBy" | "order" | "recency" | "explain">;
}

export type Write =
  | {
      readonly do: "add";
      readonly space: number;
      readonly session?: number;
      readonly agent?: number;
      readonly items: readonly Draft[];
    }
  | { readonly do: "edit"; readonly which: number; readonly patch: ItemPatch; readonly livesMs?: number | null }
  | { readonly do: "delete"; readonly which: readonly number[] }
  | { readonly do: "forget session"; readonly space: number; readonly session: number }
  | { readonly do: "forget space"; readonly space: number }
  | { readonly do: "rename space"; readonly space: number }
  | { readonly do: "rename session"; readonly space: number; readonly session: number }
  | { readonly do: "rename agent"; readonly agent: number }
  | { readonly do: "retain"; readonly space: number; readonly forMs: number | null };

export type Operation =
  | { readonly do: "write"; readonly by: number; readonly write: Write }
  /** The clock is set forward: items expire, but no timer fires. */
  | { readonly do: "wait"; readonly ms: number }
  /** Time passes: buffers are written, expired items are swept. */
  | { readonly do: "pass"; readonly minutes: number }
  | { readonly do: "flush"; readonly by: number }
  | { readonly do: "reopen"; readonly by: number }
  | { readonly do: "ask"; readonly by: number; readonly question: Question }
  /** A question that was asked before, again. */
  | { readonly do: "again"; readonly by: number; readonly which: number }
  /** Something is written, then a question that was asked before is announced, so that its answer is made ahead, and asked. */
  | {
      readonly do: "announce";
      readonly by: number;
      readonly which: number;
      readonly write: Write;
      /** Nothing waits to be embedded when the question is announced. */
      readonly settled?: true;
      /** Written between the announcement and the question. */
      readonly late?: Write;
    }
  /** A question is asked while something is written. */
  | { readonly do: "race"; readonly by: number; readonly which: number; readonly write: Write };

const WORDS = ["boat", "boats", "lamp", "rope", "sea", "harbour", "sail", "green", "red", "storm", "the", "my"];
/** Similar identifiers, and several spellings of the same. */
const IDENTIFIERS = ["A-1043-77", "a 1043 77", "A-1043-78", "+49 171 2345678", "0171/2345678", "0171/2345679"];
const NAMES = ["Ann", "Bob"];
const ASIDES = ["last week", "yesterday", "on 3 April 2026", "you told me", "Ann", "Bob's", "three days ago"];

function maybe<K extends string, T>(
  field: K,
  value: fc.Arbitrary<T>,
  without: number,
): fc.Arbitrary<{ [key in K]?: T }> {
  const given = value.map((one) => ({ [field]: one }) as { [key in K]?: T });
  return fc.oneof({ weight: without, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: given });
}

/** Most operations use one place, where they interact. */
const space = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(SPACE_SLOTS - 1) });
const session = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(SESSION_SLOTS - 1) });
const agent = fc.nat(AGENT_SLOTS - 1);
const phrase = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
const identifier = fc.constantFrom(...IDENTIFIERS);
const content = fc.oneof(
  { weight: 6, arbitrary: phrase },
  { weight: 2, arbitrary: fc.tuple(phrase, phrase).map(([one, two]) => `${one}. ${two}!`) },
  { weight: 1, arbitrary: fc.tuple(phrase, fc.constantFrom("…", "🙂", "?!")).map(([one, mark]) => `${mark} ${one}`) },
  { weight: 2, arbitrary: fc.tuple(phrase, identifier).map(([one, id]) => `${one} ${id}`) },
);
const role = fc.constantFrom("user", "user", "assistant", "system", "tool") satisfies fc.Arbitrary<string>;
const name = fc.constantFrom(...NAMES);
const tier = fc.constantFrom("working", "episodic", "semantic");
const metadata = fc.constantFrom({ topic: "sea" }, { topic: "land" });
const livesMs = fc.constantFrom(HOUR, 2 * HOUR, 5 * DAY);

const record = <T>(...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<T> =>
  fc.tuple(...parts).map((fields) => Object.assign({}, ...fields) as T);

const item = record<Draft>(
  fc.record({ content, agoMs: fc.nat(30).map((days) => days * DAY), kind: fc.constant("message"), role }),
  maybe("name", name, 2),
  maybe("tier", tier, 3),
  maybe("metadata", metadata, 1),
  maybe("livesMs", livesMs, 5),
);
const knowledge = record<Draft>(
  fc.record({ content, agoMs: fc.constant(0), kind: fc.constantFrom("knowledge", "fact") }),
  maybe("metadata", metadata, 1),
  maybe("livesMs", livesMs, 5),
);

const add = fc.oneof(
  {
    weight: 6,
    arbitrary: record<Write>(
      fc.record({
        do: fc.constant("add"),
        space,
        session,
        items: fc.array(item, { minLength: 1, maxLength: 4 }),
      }),
      maybe("agent", agent, 1),
    ),
  },
  {
    weight: 1,
    arbitrary: record<Write>(
      fc.record({ do: fc.constant("add"), space, session, items: fc.array(item, { minLength: 17, maxLength: 20 }) }),
    ),
  },
  {
    weight: 1,
    arbitrary: record<Write>(
      fc.record({ do: fc.constant("add"), space, items: fc.array(knowledge, { minLength: 1, maxLength: 2 }) }),
    ),
  },
);

const edit = record<Write>(
  fc.record({
    do: fc.constant("edit"),
    which: fc.nat(),
    patch: record<ItemPatch>(
      maybe("content", content, 1),
      maybe("role", role, 3),
      maybe("name", fc.constantFrom(null, ...NAMES), 3),
      maybe("tier", tier, 3),
      maybe("metadata", metadata, 3),
      maybe(
        "occurredAt",
        fc.nat(30).map((days) => START - days * DAY),
        3,
      ),
    ).filter((patch) => Object.keys(patch).length > 0),
  }),
  maybe("livesMs", fc.option(livesMs), 5),
);

const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 10, arbitrary: add },
  { weight: 6, arbitrary: edit },
  {
    weight: 4,
    arbitrary: record<Write>(
      fc.record({ do: fc.constant("delete"), which: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }) }),
    ),
  },
  { weight: 1, arbitrary: record<Write>(fc.record({ do: fc.constant("forget session"), space, session })) },
  { weight: 1, arbitrary: record<Write>(fc.record({ do: fc.constant("forget space"), space })) },
  { weight: 1, arbitrary: record<Write>(fc.record({ do: fc.constant("rename space"), space })) },
  { weight: 1, arbitrary: record<Write>(fc.record({ do: fc.constant("rename session"), space, session })) },
  { weight: 1, arbitrary: record<Write>(fc.record({ do: fc.constant("rename agent"), agent })) },
  {
    weight: 1,
    arbitrary: record<Write>(
      fc.record({ do: fc.constant("retain"), space, forMs: fc.constantFrom(null, DAY, 3 * DAY) }),
    ),
  },
);

const text = fc.oneof(
  { weight: 5, arbitrary: phrase },
  { weight: 2, arbitrary: fc.tuple(phrase, fc.constantFrom(...ASIDES)).map(([one, aside]) => `${one} ${aside}`) },
  { weight: 1, arbitrary: fc.tuple(phrase, identifier).map(([one, id]) => `${one} ${id}?`) },
  { weight: 1, arbitrary: identifier },
  { weight: 1, arbitrary: fc.constantFrom("", "?!", "zebra") },
);
const someOf = (slots: number) => fc.uniqueArray(fc.nat(slots - 1), { minLength: 1, maxLength: slots });

const question = record<Question>(
  fc.record({ text, space, ghost: fc.boolean() }),
  maybe("session", session, 1),
  maybe("agent", agent, 3),
  maybe("spaces", someOf(SPACE_SLOTS), 3),
  maybe("sessions", someOf(SESSION_SLOTS), 6),
  maybe("agents", someOf(AGENT_SLOTS), 6),
  maybe("within", fc.constantFrom("user", "session", "agent"), 4),
  fc.record({
    fields: record(
      maybe("role", fc.constantFrom("user", "assistant", ["user", "tool"]), 6),
      maybe("kind", fc.constantFrom("message", ["knowledge", "fact"]), 9),
      maybe("tier", fc.constantFrom("episodic", ["working", "semantic"]), 9),
      maybe("metadata", fc.constantFrom({ topic: "sea" }, { topic: ["sea", "land"] }), 9),
    ),
  }),
  maybe("from", fc.nat(20), 9),
  maybe("to", fc.nat(20), 9),
  maybe("askedAt", fc.nat(20), 5),
  fc.record({
    shown: record(
      maybe("topK", fc.integer({ min: 1, max: 40 }), 1),
      maybe("offset", fc.integer({ min: 0, max: 12 }), 3),
      maybe("sortBy", fc.constantFrom("timestamp"), 4),
      maybe("order", fc.constantFrom("asc"), 4),
      maybe("recency", fc.constantFrom(0.3, 1), 4),
      maybe("explain", fc.constant(true), 4),
    ),
  }),
);

const by = fc.nat(1);
const announcement = record<object>(
  fc.record({ do: fc.constant("announce"), by, which: fc.nat(7), write }),
  maybe("settled", fc.constant(true), 1),
  maybe("late", write, 2),
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant("write"), by, write }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant("ask"), by, question }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("again"), by, which: fc.nat(7) }) },
  { weight: 4, arbitrary: announcement },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("race"), by, which: fc.nat(7), write }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(HOUR, DAY, 7 * DAY) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pass"), minutes: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("flush"), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen"), by }) },
) as fc.Arbitrary<Operation>;

export const operations = fc.array(operation, { minLength: 10, maxLength: 45, size: "max" });

/**
 * Mostly questions that are announced, some with a write between the announcement and the question. Nothing expires and no
 * question depends on the clock, because such answers are never made ahead.
 */
export const announcements = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ do: fc.constant("ask"), by, question }) },
      { weight: 8, arbitrary: announcement },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("flush"), by }) },
    ) as fc.Arbitrary<Operation>,
    { minLength: 20, maxLength: 40, size: "max" },
  )
  .map((sequence) => sequence.map(timeless));

function timeless(operation: Operation): Operation {
  if (operation.do === "ask") {
    const { recency: _recency, explain: _explain, ...shown } = operation.question.shown;
    return { ...operation, question: { ...operation.question, shown } };
  }
  if (operation.do !== "announce") return operation;
  const { write, late } = operation;
  return { ...operation, write: lasting(write), ...(late && { late: lasting(late) }) };
}

function lasting(write: Write): Write {
  if (write.do === "retain") return { ...write, forMs: null };
  if (write.do === "edit") return { ...write, livesMs: null };
  if (write.do !== "add") return write;
  return { ...write, items: write.items.map(({ livesMs: _livesMs, ...item }) => item) };
}
