/** Takes, keeps and ends leases. */
import type { BeatWrite, Claim, ClaimWrite, IndexingDone, ReleaseWrite } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import { findLeasable } from "./lanes.js";
import type { State } from "./state.js";

export function claim({ owner, lanes, evict }: ClaimWrite, state: State, attempt: Attempt): IndexingDone {
  const { leases, registry } = state;
  for (const silent of evict) leases.evict(silent.owner, silent.beat, attempt);
  leases.beat(owner, attempt);
  const claims = lanes.map((lane): Claim => {
    const found = findLeasable(lane, registry);
    return found ? leases.claim(found, owner.id, attempt) : { gone: true };
  });
  return { op: "claim", claims };
}

export function beat({ owner }: BeatWrite, { leases }: State, attempt: Attempt): IndexingDone {
  const alive = leases.knows(owner.id);
  if (alive) leases.beat(owner, attempt);
  return { op: "beat", alive };
}

export function release({ owner, lanes }: ReleaseWrite, { leases, registry }: State, attempt: Attempt): IndexingDone {
  if (!lanes) leases.releaseAll(owner, attempt);
  for (const lane of lanes ?? []) {
    const found = findLeasable(lane, registry);
    if (found) leases.release(found, owner, attempt);
  }
  return { op: "release" };
}
