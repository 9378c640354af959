/** Splits queued items into transactions that are small enough that an add never waits long behind one. */
import type { IndexWrite } from "../../stores/indexing.js";
import type { VectorSpace } from "../../types.js";
import type { Leases } from "./leases.js";
import type { QueuedLane } from "./round-queue.js";
import { bytesOf, type CachedItem } from "./vector-cache.js";

/** About 8 ms of the writer's time. */
const GROUP_ITEMS = 128;
const GROUP_BYTES = 1024 * 1024;

/** A write and the cache entries it contains. */
export interface FlushWrite {
  readonly write: IndexWrite;
  readonly items: readonly CachedItem[];
}

/** `release`: the write that empties a lane also releases its lease. */
export function flushGroups(
  queued: readonly QueuedLane[],
  leases: Leases,
  vectorSpace: VectorSpace,
  release: boolean,
): readonly (readonly FlushWrite[])[] {
  const groups: FlushWrite[][] = [];
  let room = { items: 0, bytes: 0 };
  for (const { lane, items } of queued) {
    const fence = leases.fenceOf(lane);
    if (fence === undefined) continue;
    for (let rest = items; rest.length > 0; ) {
      if (room.items <= 0 || room.bytes <= 0) {
        groups.push([]);
        room = { items: GROUP_ITEMS, bytes: GROUP_BYTES };
      }
      const part = fitting(rest, room);
      rest = rest.slice(part.length);
      room = {
        items: room.items - part.length,
        bytes: room.bytes - part.reduce((sum, item) => sum + bytesOf(item), 0),
      };
      const write: IndexWrite = {
        op: "index",
        owner: leases.owner.id,
        lane,
        fence,
        vectorSpace,
        items: part.map(({ key, version, spans, vectors, borrowed }) => ({ key, version, spans, vectors, borrowed })),
        release: release && rest.length === 0,
      };
      groups.at(-1)?.push({ write, items: part });
    }
  }
  return groups;
}

/** As many items as fit, but at least one. */
function fitting(items: readonly CachedItem[], room: { readonly items: number; readonly bytes: number }) {
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    bytes += bytesOf(item);
    if (count > 0 && (count >= room.items || bytes > room.bytes)) break;
    count++;
  }
  return items.slice(0, count);
}
