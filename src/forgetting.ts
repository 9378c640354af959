/** Forgetting, from the first slice to the receipt. */
import type { Untold } from "./events/event.js";
import type { Events } from "./events/events.js";
import { FACT_STATES } from "./stores/facts.js";
import type { Done, ForgetWrite, Store } from "./stores/store.js";
import type { ForgetReceipt, SpaceRef } from "./types.js";

/** How long a forget waits for other readers of the file before it says that the log still holds the text. */
const PURGE_WAIT_MS = 5_000;

export interface Forgetting {
  readonly store: Store;
  readonly events: Events;
  readonly write: (write: ForgetWrite) => Promise<Done>;
  readonly target: ForgetWrite["target"];
  readonly now: number;
  /** Lets go of what is in memory, before the file is cleaned. */
  readonly onGone: (items: number) => unknown;
}

export async function forgetAll({ store, events, write, target, now, onGone }: Forgetting): Promise<ForgetReceipt> {
  const sum = { items: 0, sessions: 0, entries: 0, blocks: 0, facts: 0 };
  const factsLeft = new Set<string>();
  let copiesLeft = 0;
  for (let remaining = true; remaining; ) {
    const done = await write({ op: "forget", target });
    if (done.op !== "forget") break;
    for (const what of Object.keys(sum) as (keyof typeof sum)[]) sum[what] += done[what];
    for (const id of done.factsLeft) factsLeft.add(id);
    copiesLeft += done.copiesLeft;
    remaining = done.remaining;
  }
  const isTouched = Object.values(sum).some((count) => count > 0);
  if (isTouched && "space" in target) events.tell(forgotten(target, sum));
  await onGone(sum.items);
  const { purged, left } = isTouched ? await store.purge(PURGE_WAIT_MS) : { purged: true, left: [] };
  const { commit } = await store.stats();
  // A later slice may have taken what an earlier one left.
  const staying = "space" in target ? await factsAmong(store, target.space, [...factsLeft], now) : [];
  const others = [...factsThatStay(staying), ...copiesThatStay(copiesLeft)];
  return {
    ...sum,
    missing: [],
    purged,
    left: [...left, ...others, ...(isTouched ? await leftOutside(store) : [])],
    commit,
  };
}

function forgotten(
  target: Exclude<ForgetWrite["target"], { readonly expired: true }>,
  { items, facts }: { readonly items: number; readonly facts: number },
): Untold {
  const { space } = target;
  if ("ids" in target) return { type: "deleted", space, ids: target.ids, items, facts };
  if ("block" in target) return { type: "forgotten", space, block: target.block, items, facts };
  const session = "session" in target ? { session: target.session } : {};
  return { type: "forgotten", space, ...session, items, facts };
}

/** Which of these are facts of the space. One that holds no longer has no item, and can be forgotten all the same. */
export async function factsAmong(
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
  ids.map((id) => ({ what: id, why: "the fact also rests on something that was not forgotten" }));

function copiesThatStay(count: number): ForgetReceipt["left"] {
  if (count === 0) return [];
  const what = `${count} ${count === 1 ? "copy" : "copies"} in other spaces`;
  return [{ what, why: "it was promoted there on purpose; forget it there too" }];
}

/** An external index is told after the commit; until it has acknowledged, it still has vectors. */
async function leftOutside(store: Store): Promise<ForgetReceipt["left"]> {
  const { index, unsent } = await store.indexingStats();
  if (index === undefined || unsent === 0) return [];
  return [{ what: `vectors in ${index}`, why: "their removal is queued and sent in the background" }];
}
