/** Forgetting: deletes and forgets, from the first slice to the receipt. */
import type { MeaningPath } from "./buffers/meaning-path.js";
import type { Untold } from "./events/event.js";
import type { Events } from "./events/events.js";
import type { ParsedScope } from "./input/scope.js";
import { FACT_STATES } from "./stores/facts.js";
import type { Done, ForgetWrite, Store } from "./stores/store.js";
import type { ForgetReceipt, SpaceRef } from "./types.js";

/** How long a forget waits for other readers of the file before it reports that the log still contains the text. */
const PURGE_WAIT_MS = 5_000;

/** Reported as left when an agent's space is forgotten. */
const AGENTS_ITEMS_LEFT = {
  what: "items in other spaces",
  why: "they belong to users and teams; they no longer name the agent",
};

export interface ForgettingParts {
  readonly store: Store;
  readonly events: Events;
  /** Wall-clock time. */
  readonly now: () => number;
  readonly write: (write: ForgetWrite) => Promise<Done>;
  /** Absent without an embedding model. */
  readonly meaning: Pick<MeaningPath, "deleted" | "forgotten"> | undefined;
  /** Drops cached answers of a space, or all, before the file is purged. */
  readonly dropAnswers: (space?: SpaceRef) => void;
}

export class Forgetting {
  readonly #parts: ForgettingParts;

  constructor(parts: ForgettingParts) {
    this.#parts = parts;
  }

  /** Deletes items by id. */
  async delete({ space }: ParsedScope, ids: readonly string[]): Promise<ForgetReceipt> {
    const { store, now, meaning } = this.#parts;
    const existing = await store.get([space], ids, now());
    const facts = await factsAmong(store, space, ids, now());
    const known = new Set([...existing.map(({ id }) => id), ...facts]);
    const receipt = await this.run({ space, ids }, () => meaning?.deleted(space, ids, existing));
    return { ...receipt, missing: ids.filter((id) => !known.has(id)) };
  }

  /** Forgets the scope's session, or the whole space if the scope names no session, including the registry entry. */
  async forget({ space, session }: ParsedScope): Promise<ForgetReceipt> {
    const target = session === undefined ? { space, entry: true } : { space, session, entry: true };
    const receipt = await this.run(target, () => this.#parts.meaning?.forgotten(space, session));
    if (session !== undefined || !("agent" in space) || receipt.entries === 0) return receipt;
    return { ...receipt, left: [...receipt.left, AGENTS_ITEMS_LEFT] };
  }

  /** Forgets a target, slice by slice. `onGone` is called when its items are gone, before the file is purged. */
  async run(target: ForgetWrite["target"], onGone: () => unknown = () => {}): Promise<ForgetReceipt> {
    const { store, events, write, now, dropAnswers } = this.#parts;
    const sum = { items: 0, sessions: 0, entries: 0, blocks: 0, facts: 0, points: 0 };
    const factsLeft = new Set<string>();
    let copiesLeft = 0;
    let keysLeft = false;
    const at = now();
    for (let remaining = true; remaining; ) {
      const done = await write({ op: "forget", target });
      if (done.op !== "forget") break;
      for (const what of Object.keys(sum) as (keyof typeof sum)[]) sum[what] += done[what];
      for (const id of done.factsLeft) factsLeft.add(id);
      copiesLeft += done.copiesLeft;
      keysLeft ||= done.keysLeft;
      remaining = done.remaining;
    }
    const isTouched = Object.values(sum).some((count) => count > 0);
    if (isTouched && "space" in target && !("points" in target)) events.tell(forgotten(target, sum));
    const isWhole = "entry" in target && target.entry;
    // Questions may have been asked, and announced, where no item was.
    if (sum.items > 0 || isWhole) dropAnswers("space" in target ? target.space : undefined);
    await onGone();
    const { purged, left } = isTouched ? await store.purge(PURGE_WAIT_MS) : { purged: true, left: [] };
    // A later slice may have removed facts that an earlier one left.
    const staying = "space" in target ? await factsAmong(store, target.space, [...factsLeft], at) : [];
    const others = [
      ...factsThatStay(staying),
      ...copiesThatStay(copiesLeft),
      ...(keysLeft && !isWhole ? KEYS_STAY : []), // otherwise they are removed with the entry
    ];
    return {
      ...sum,
      missing: [],
      purged,
      left: [...left, ...others, ...(isTouched ? await leftOutside(store) : [])],
    };
  }
}

function forgotten(
  target: Exclude<ForgetWrite["target"], { readonly expired: true } | { readonly points: object }>,
  { items, facts }: { readonly items: number; readonly facts: number },
): Untold {
  const { space } = target;
  if ("ids" in target) return { type: "deleted", space, ids: target.ids, items, facts };
  if ("block" in target) return { type: "forgotten", space, block: target.block, items, facts };
  const session = "session" in target ? { session: target.session } : {};
  return { type: "forgotten", space, ...session, items, facts };
}

/** The ids that are facts of the space. A fact that no longer holds has no item, but can be forgotten too. */
async function factsAmong(
  store: Store,
  space: SpaceRef,
  ids: readonly string[],
  now: number,
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const request = { spaces: [space], ids, states: FACT_STATES, limit: ids.length, now };
  return (await store.facts(request)).items.map(({ id }) => id);
}

const factsThatStay = (ids: readonly string[]): ForgetReceipt["left"] =>
  ids.map((id) => ({ what: id, why: "the fact has another source that was not forgotten" }));

function copiesThatStay(count: number): ForgetReceipt["left"] {
  if (count === 0) return [];
  const what = `${count} ${count === 1 ? "copy" : "copies"} in other spaces`;
  return [{ what, why: "it was promoted there on purpose; forget it there too" }];
}

const KEYS_STAY: ForgetReceipt["left"] = [
  {
    what: "idempotency keys and ids of these messages",
    why: "a retry must not bring them back; they go after 7 days in use, or with their session or space",
  },
];

/** An external index is updated after the commit, and keeps the vectors until it has acknowledged their removal. */
async function leftOutside(store: Store): Promise<ForgetReceipt["left"]> {
  const { index, unsent } = await store.indexingStats();
  if (index === undefined || unsent === 0) return [];
  return [{ what: `vectors in ${index}`, why: "their removal is queued and sent in the background" }];
}
