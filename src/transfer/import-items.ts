/**
 * Imports items. A batch is compared with existing items, and the new ones are written in one transaction, so an interrupted
 * import leaves complete batches, in order.
 */
import { isDeepStrictEqual } from "node:util";
import type { BufferService } from "../service.js";
import { spaceKey } from "../space-key.js";
import type { NewRow } from "../stores/store.js";
import type { ItemInput } from "./line.js";
import { readBySpace } from "./read-by-space.js";
import type { Numbered, Tally } from "./report.js";
import { addsOf, type ItemToWrite, type Rounds } from "./rounds.js";
import { writeEach } from "./write-each.js";

/** The fields that decide whether two items are equal. */
type ItemContent = Pick<NewRow, "kind" | "role" | "name" | "content" | "parts" | "tier" | "metadata"> & {
  readonly session?: string;
};

interface Classified extends Numbered<ItemInput> {
  readonly as: "items" | "repeated" | "skipped" | "conflict";
}

export async function importItems(
  service: BufferService,
  batch: readonly Numbered<ItemInput>[],
  rounds: Rounds,
  tally: Tally,
): Promise<void> {
  const judged = await classify(service, batch);
  const end = tally.stopsAtConflict ? judged.findIndex(({ as }) => as === "conflict") : -1;
  const taken = end < 0 ? judged : judged.slice(0, end);
  const placed: ItemToWrite[] = [];
  for (const { line, as } of taken) {
    if (as !== "items" && as !== "repeated") continue;
    const first = rounds.note(line);
    if (as === "items") placed.push({ item: line, first });
  }
  if (placed.length > 0) await writeEach(service, [addsOf(placed)]);
  for (const { number, line, as } of judged) {
    if (as === "conflict") tally.conflict(number, line.row.id, "an item");
    else tally.count(as);
  }
}

/** Classifies each item: its id may exist in the store, or earlier in the same batch. */
async function classify(service: BufferService, batch: readonly Numbered<ItemInput>[]): Promise<readonly Classified[]> {
  const now = service.clock.now();
  const idsOf = (line: ItemInput): readonly string[] => [line.row.id];
  const known: Map<string, ItemContent> = await readBySpace(batch, idsOf, (space, ids) =>
    service.store.get([space], ids, now),
  );
  return batch.map(({ number, line }) => {
    const { row, session } = line;
    const said: ItemContent = { ...row, ...(session !== undefined && { session }) };
    if (row.expiresAt !== undefined && row.expiresAt <= now) return { number, line, as: "skipped" };
    const name = `${spaceKey(line.space)} ${row.id}`;
    const there = known.get(name);
    if (there) return { number, line, as: isSame(there, said) ? "repeated" : "conflict" };
    known.set(name, said);
    return { number, line, as: "items" };
  });
}

/** Compares like the stores do: times and agents do not count. */
function isSame(one: ItemContent, other: ItemContent): boolean {
  const of = ({ kind, role, name, content, parts, tier, metadata, session }: ItemContent) =>
    [kind, role, name, content, tier, metadata, session, parts?.length ? parts : undefined] as const;
  return isDeepStrictEqual(of(one), of(other));
}
