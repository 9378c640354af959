/**
 * Random operations on a store. Names, ids, words and times come from small pools, so that operations interact: ids are
 * taken, keys are reused, names conflict, items expire, pages end exactly.
 */
import fc from "fast-check";
import type {
  AddWrite,
  AmendWrite,
  ForgetWrite,
  ListRequest,
  NewRow,
  RegisterWrite,
  RowFilter,
  Unit,
  UpdateWrite,
  Write,
} from "../../stores/store.js";
import { KINDS, ROLES, type SpaceRef, TIERS } from "../../types.js";
import { indexingOperation } from "./indexing-operations.js";

export const START = Date.UTC(2026, 10, 15, 12);
const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/** Every space that an operation may name. */
export const SPACES: readonly SpaceRef[] = [
  { user: "ada" },
  { user: "bob" },
  { user: "lovelace" },
  { team: "crew" },
  { agent: "tutor" },
  { agent: "coach" },
];
const SESSIONS = ["s", "t", "u"];
const AGENTS = ["tutor", "coach"];
export const IDS: readonly string[] = ["a", "b", "c", "d", "e", "f", "é", "👍"];
const WORDS = ["lamp", "rope", "sea", "house", "running", "run", "Lisbon", "里斯本", "café", "👍🏽", "the"];

export type Twist = "none" | "agent" | "parts" | "tier" | "session";

export type Operation =
  | { readonly do: "commit"; readonly units: readonly (readonly Write[])[] }
  /** Commits an earlier unit again, unchanged or with slightly changed adds. */
  | { readonly do: "again"; readonly which: number; readonly twist: Twist }
  | { readonly do: "forget"; readonly target: ForgetWrite["target"] }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "maintain" }
  | { readonly do: "list"; readonly request: Omit<ListRequest, "now" | "cursor"> }
  | { readonly do: "get"; readonly spaces: readonly SpaceRef[]; readonly ids: readonly string[] }
  | {
      readonly do: "search";
      readonly spaces: readonly SpaceRef[];
      readonly query: string;
      readonly filter: RowFilter;
      readonly limit: number;
    }
  /** `ago` counts versions back that were seen of a space. */
  | { readonly do: "changes"; readonly ago: number }
  /** How the store is reopened, if it can be. */
  | { readonly do: "reopen"; readonly how: "in place" | "beside" | "after close" };

/** A record with one field, or, `weight` times as often, none. */
function maybe<K extends string, T>(
  field: K,
  value: fc.Arbitrary<T>,
  without: number,
): fc.Arbitrary<{ [key in K]?: T }> {
  const given = value.map((one) => ({ [field]: one }) as { [key in K]?: T });
  return fc.oneof({ weight: without, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: given });
}

/** Most operations use one place, where they interact. */
const space = fc.oneof(
  { weight: 8, arbitrary: fc.constant<SpaceRef>({ user: "ada" }) },
  { weight: 3, arbitrary: fc.constant<SpaceRef>({ user: "bob" }) },
  { weight: 2, arbitrary: fc.constantFrom(...SPACES) },
);
const spaces = fc.oneof(
  { weight: 1, arbitrary: fc.constant([...SPACES]) },
  { weight: 2, arbitrary: fc.array(space, { minLength: 1, maxLength: 3 }) },
);
const someOf = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1, maxLength: 2 });
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 6, size: "max" }).map((words) => words.join(" "));
const query = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
const moment = fc.integer({ min: 0, max: 4 }).map((step) => step * 100);
const expiry = fc.constantFrom(START, START + SECOND, START + 5 * SECOND, START + DAY, START + 30 * DAY);
const metadata = fc.tuple(
  maybe("color", fc.constantFrom("red", "blue", null, 1, true), 1),
  maybe("deep", fc.record({ n: fc.constantFrom(0, "0", false) }), 1),
);
const merged = metadata.map(([color, deep]) => ({ ...color, ...deep }));
const parts = fc.constantFrom([{ type: "text", text: "lamp" }], [{ type: "image", description: "rope", size: [1, 2] }]);

const row: fc.Arbitrary<NewRow> = fc
  .tuple(
    fc.record({
      id: fc.oneof(fc.constantFrom(...IDS), fc.nat(999).map(String)),
      kind: fc.constantFrom(...KINDS),
      content: text,
      metadata: merged,
      tier: fc.constantFrom(...TIERS),
      occurredAt: moment,
    }),
    maybe("role", fc.constantFrom(...ROLES), 1),
    maybe("name", fc.constantFrom("Ann", "lamp"), 3),
    maybe("parts", parts, 5),
    maybe("expiresAt", expiry, 5),
  )
  .map(([fixed, ...rest]) => Object.assign({}, fixed, ...rest) as NewRow);

const add: fc.Arbitrary<AddWrite> = fc
  .tuple(
    space,
    fc.oneof(
      { weight: 12, arbitrary: fc.array(row, { minLength: 1, maxLength: 4, size: "max" }) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    fc.constantFrom("same", "same", "replace"),
    maybe("session", fc.constantFrom(...SESSIONS), 1),
    maybe("agent", fc.constantFrom(...AGENTS), 1),
  )
  .map(
    ([space, items, existing, ...rest]) => Object.assign({ op: "add", space, items, existing }, ...rest) as AddWrite,
  );

const update: fc.Arbitrary<UpdateWrite> = fc
  .tuple(
    space,
    fc.constantFrom(...IDS.slice(0, 3)),
    maybe("expectVersion", fc.integer({ min: 1, max: 3 }), 3),
    maybe("role", fc.constantFrom(...ROLES), 2),
    maybe("name", fc.constantFrom("Ann", "sea", null), 2),
    maybe("metadata", merged, 2),
    maybe("tier", fc.constantFrom(...TIERS), 2),
    maybe("occurredAt", moment, 2),
    maybe("expiresAt", fc.option(expiry), 5),
    fc.oneof(fc.constant({}), fc.record({ content: text, parts: fc.option(parts, { freq: 1 }) })),
  )
  .map(([space, id, expected, ...patches]) => {
    const patch = Object.assign({}, ...patches) as UpdateWrite["patch"];
    return Object.assign({ op: "update" as const, space, id, patch }, expected) as UpdateWrite;
  });

const namedSpace = space.map((ref) => {
  const [[kind, name] = []] = Object.entries(ref);
  return { kind, name } as Extract<AmendWrite["entry"], { kind: "user" | "agent" | "team" }>;
});
const namedSession = fc.record({ kind: fc.constant("session" as const), name: fc.constantFrom(...SESSIONS), space });

const register: fc.Arbitrary<RegisterWrite> = fc
  .tuple(
    fc.constantFrom("new" as const, "ensure" as const),
    fc.oneof(
      fc.tuple(namedSpace, fc.constantFrom({}, { description: "x" })).map(([entry, more]) => ({ ...entry, ...more })),
      fc.tuple(namedSession, fc.constantFrom(...AGENTS)).map(([entry, agent]) => ({ ...entry, agent })),
    ),
  )
  .map(([create, entry]) => ({ op: "register", create, entry }));

const amend: fc.Arbitrary<AmendWrite> = fc.oneof(
  namedSpace.chain((entry) => {
    const names = SPACES.flatMap((ref) => Object.entries(ref)).filter(([kind]) => kind === entry.kind);
    return fc
      .tuple(
        maybe("name", fc.constantFrom(...names.map(([, name]) => name)), 1),
        maybe("description", fc.constantFrom("x", "y", null), 2),
        maybe("retentionMs", fc.constantFrom(SECOND, DAY, null), 2),
      )
      .map((changes) => Object.assign({ op: "amend", entry }, ...changes) as AmendWrite);
  }),
  fc
    .tuple(namedSession, fc.constantFrom(...SESSIONS))
    .map(([entry, name]): AmendWrite => ({ op: "amend", entry, name })),
);

/** At most one id: a larger target may take several slices, which a unit does not allow. */
const forgetOne: fc.Arbitrary<ForgetWrite> = fc
  .tuple(space, fc.constantFrom(...IDS))
  .map(([space, id]) => ({ op: "forget", target: { space, ids: [id] } }));

const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 10, arbitrary: add },
  { weight: 5, arbitrary: update },
  { weight: 1, arbitrary: forgetOne },
  { weight: 1, arbitrary: register },
  { weight: 1, arbitrary: amend },
);

const once = fc
  .tuple(fc.oneof(add, update), fc.constantFrom("k", "l"), fc.constantFrom("1", "2"))
  .map(([write, key, hash]): Write[] => {
    const { session } = { session: undefined, ...write };
    return [{ op: "once", space: write.space, ...(session !== undefined && { session }), key, hash }, write];
  });

/** Usually one write; more of them fail together. */
const unit = fc.oneof(
  { weight: 3, arbitrary: fc.array(write, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: once },
  { weight: 1, arbitrary: fc.array(write, { minLength: 2, maxLength: 3 }) },
);

const target: fc.Arbitrary<ForgetWrite["target"]> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ space, ids: fc.array(fc.constantFrom(...IDS, "not there"), { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ space, session: fc.constantFrom(...SESSIONS), entry: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ space: fc.constantFrom(...SPACES), entry: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ expired: true as const }) },
);

const narrow: fc.Arbitrary<RowFilter> = fc.oneof(
  fc.record({ sessions: someOf(SESSIONS) }),
  fc.record({ agents: someOf(AGENTS) }),
  fc.record({ roles: someOf(ROLES) }),
  fc.record({ kinds: someOf(KINDS) }),
  fc.record({ tiers: someOf(TIERS) }),
  fc.record({ from: moment }),
  fc.record({ to: moment }),
  fc.record({ pending: fc.constant(true as const) }),
  fc.record({
    metadata: fc.constantFrom<NonNullable<RowFilter["metadata"]>[]>(
      [{ path: ["color"], anyOf: ["red", 1] }],
      [{ path: ["color"], anyOf: [null, true] }],
      [{ path: ["deep", "n"], anyOf: [0] }],
      [
        { path: ["deep", "n"], anyOf: [false, "0"] },
        { path: ["color"], anyOf: ["red", "blue"] },
      ],
    ),
  }),
);
const filter: fc.Arbitrary<RowFilter> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: narrow },
  { weight: 1, arbitrary: fc.tuple(narrow, narrow).map(([one, other]) => ({ ...one, ...other })) },
);

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      units: fc.array(unit, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("again" as const),
      which: fc.nat(100),
      twist: fc.constantFrom<Twist[]>("none", "none", "none", "agent", "parts", "tier", "session"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("forget" as const), target }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 1, SECOND, SECOND, 5 * SECOND, DAY, 7 * DAY),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("maintain" as const) }) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        spaces,
        filter,
        sortBy: fc.constantFrom("arrival" as const, "timestamp" as const),
        order: fc.constantFrom("asc" as const, "desc" as const),
        limit: fc.constantFrom(1, 2, 3, 5, 100),
      })
      .map((request) => ({ do: "list" as const, request })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("get" as const), spaces, ids: fc.subarray([...IDS, "not there"]) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("search" as const),
      spaces,
      query,
      filter,
      limit: fc.constantFrom(1, 2, 5, 100),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("changes" as const), ago: fc.nat(10) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("reopen" as const),
      how: fc.constantFrom("in place" as const, "beside" as const, "after close" as const),
    }),
  },
);

export const indexing = indexingOperation({ space, spaces, sessions: SESSIONS, ids: IDS, filter });

/** The same unit, except for one detail of its adds. */
export function twisted(unit: Unit, twist: Twist): Unit {
  return unit.map((write) => {
    if (write.op !== "add" || twist === "none") return write;
    if (twist === "agent") return { ...write, agent: "coach" };
    if (twist === "session") return { ...write, session: "u" };
    const change = twist === "tier" ? { tier: "working" as const } : { parts: [{ type: "text", text: "twisted" }] };
    return { ...write, items: write.items.map((item) => ({ ...item, ...change })) };
  });
}
