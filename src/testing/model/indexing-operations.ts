/**
 * Random operations of embedding processes. What they refer to is looked up when they run: the store assigns keys and
 * fences.
 */
import fc from "fast-check";
import { rounded } from "../../retrieval/vectors/codes.js";
import type { Lane } from "../../stores/indexing.js";
import type { RowFilter } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";

/** Vectors of unit length, some equal, some near each other; rounded, because a store may keep 16 bits of each number. */
export const VECTORS: readonly (readonly number[])[] = [
  [1, 0, 0, 0],
  [0, 1, 0, 0],
  [0.6, 0.8, 0, 0],
  [0, 0, -1, 0],
  [0.5, 0.5, 0.5, 0.5],
].map((vector) => [...rounded(Float32Array.from(vector))]);
export const OWNERS = ["one", "two"] as const;
export type OwnerName = (typeof OWNERS)[number];

interface InLane {
  readonly owner: OwnerName;
  /** The index of a lane among those that have items; `otherwise` if there is none. */
  readonly lane: number;
  readonly otherwise: Lane;
}

export type IndexingOperation =
  /** If another owner has the lane: leave it, evict the owner by its last beat, or try to after it has beaten again. */
  | (InLane & { readonly do: "claim"; readonly other: "leave" | "evict" | "too late" })
  | (InLane & { readonly do: "release"; readonly all: boolean })
  /** Embeds some of the lane's items, with the given numbers of chunks; `later` keeps the write for a flush. */
  | (InLane & {
      readonly do: "embed";
      readonly which: readonly boolean[];
      readonly chunks: readonly (readonly number[])[];
      readonly borrow: boolean;
      readonly release: boolean;
      readonly later: boolean;
    })
  /** Edits or forgets an item of the lane. */
  | (InLane & { readonly do: "change"; readonly item: number; readonly how: "text" | "tier" | "forget" })
  /** Sends a write that was kept, whatever has happened since. */
  | { readonly do: "flush"; readonly which: number }
  | (InLane & { readonly do: "park"; readonly which: readonly boolean[]; readonly retryInMs?: number })
  | { readonly do: "replay"; readonly space?: SpaceRef; readonly ids?: readonly string[] }
  | { readonly do: "attach"; readonly index: "here" | "there" | null }
  /** Sends some rows of the outbox, or refuses them. */
  | { readonly do: "send"; readonly limit: number; readonly refused: boolean }
  | {
      readonly do: "near";
      readonly spaces: readonly SpaceRef[];
      readonly vector: number;
      readonly filter: RowFilter;
      readonly limit: number;
    };

export interface Pools {
  readonly space: fc.Arbitrary<SpaceRef>;
  readonly spaces: fc.Arbitrary<readonly SpaceRef[]>;
  readonly sessions: readonly string[];
  readonly ids: readonly string[];
  readonly filter: fc.Arbitrary<RowFilter>;
}

/** Operations in the same places as all others, so that they interact. */
export function indexingOperation(pools: Pools): fc.Arbitrary<IndexingOperation> {
  const { space, spaces, sessions, ids, filter } = pools;
  const place: fc.Arbitrary<Lane> = fc
    .tuple(space, fc.oneof(fc.constant({}), fc.constantFrom(...sessions.map((session) => ({ session })))))
    .map(([space, inSession]) => ({ space, ...inSession }));
  const inLane: fc.Arbitrary<InLane> = fc.record({
    owner: fc.constantFrom(OWNERS[0], OWNERS[0], OWNERS[0], OWNERS[1]),
    lane: fc.nat(7),
    otherwise: place,
  });
  const within = <T>(record: fc.Arbitrary<T>) => fc.tuple(inLane, record).map(([lane, rest]) => ({ ...lane, ...rest }));
  const which = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });
  const vector = fc.nat(VECTORS.length - 1);
  const chunks = fc.array(fc.array(vector, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
  const kind = <K extends IndexingOperation["do"]>(name: K) => fc.constant(name);
  return fc.oneof(
    {
      weight: 4,
      arbitrary: within(
        fc.record({
          do: kind("claim"),
          other: fc.constantFrom("leave" as const, "evict" as const, "too late" as const),
        }),
      ),
    },
    { weight: 1, arbitrary: within(fc.record({ do: kind("release"), all: fc.boolean() })) },
    {
      weight: 10,
      arbitrary: within(
        fc.record({
          do: kind("embed"),
          which,
          chunks,
          borrow: fc.boolean(),
          release: fc.boolean(),
          later: fc.constantFrom(false, false, true),
        }),
      ),
    },
    {
      weight: 5,
      arbitrary: within(
        fc.record({
          do: kind("change"),
          item: fc.nat(5),
          how: fc.constantFrom("text" as const, "text" as const, "tier" as const, "forget" as const),
        }),
      ),
    },
    { weight: 3, arbitrary: fc.record({ do: kind("flush"), which: fc.nat(10) }) },
    {
      weight: 3,
      arbitrary: within(
        fc.oneof(
          fc.record({ do: kind("park"), which }),
          fc.record({ do: kind("park"), which, retryInMs: fc.constantFrom(0, 1000, 5000) }),
        ),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        fc.record({ do: kind("replay") }),
        fc.record({ do: kind("replay") }),
        fc.record({ do: kind("replay"), space }),
        fc.record({ do: kind("replay"), space, ids: fc.subarray([...ids]) }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: kind("attach"),
        index: fc.constantFrom(...(["here", "here", "here", "here", "there", null] as const)),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: kind("send"), limit: fc.constantFrom(1, 2, 100), refused: fc.boolean() }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: kind("near"), spaces, vector, filter, limit: fc.constantFrom(1, 2, 5, 100) }),
    },
  );
}
