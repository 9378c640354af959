/**
 * Items of an import: a batch is compared with what is there, and what is new is written in one transaction, so that
 * whatever stops an import leaves whole batches, in order.
 */
import { isDeepStrictEqual } from "node:util";
import type { BufferService } from "../service.js";
import type { NewRow } from "../stores/store.js";
import { spaceName } from "./format.js";
import type { ItemInput } from "./line.js";
import { readBySpace } from "./read-by-space.js";
import type { Numbered, Tally } from "./report.js";
import { addsOf, type Placed, type Rounds } from "./rounds.js";
import { writeEach } from "./write-each.js";

/** What an item says, wherever it was read. */
type Said = Pick<NewRow, "kind" | "role" | "name" | "content" | "parts" | "tier" | "metadata"> & {
  readonly session?: string;
};

interface Judged extends Numbered<ItemInput> {
  readonly as: "items" | "repeated" | "skipped" | "conflict";
}

export async function importItems(
  service: BufferService,
  batch: readonly Numbered<ItemInput>[],
  rounds: Rounds,
  tally: Tally,
): Promise<void> {
  const judged = await judge(service, batch);
  const end = tally.stopsAtConflict ? judged.findIndex(({ as }) => as === "conflict") : -1;
  const taken = end < 0 ? judged : judged.slice(0, end);
  const placed: Placed[] = [];
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

/** What becomes of each: an id is met in what is there, or earlier in the same batch. */
async function judge(service: BufferService, batch: readonly Numbered<ItemInput>[]): Promise<readonly Judged[]> {
  const now = service.clock.now();
  const idsOf = (line: ItemInput): readonly string[] => [line.row.id];
  const known: Map<string, Said> = await readBySpace(batch, idsOf, (space, ids) =>
    service.store.get([space], ids, now),
  );
  return batch.map(({ number, line }) => {
    const { row, session } = line;
    const said: Said = { ...row, ...(session !== undefined && { session }) };
    if (row.expiresAt !== undefined && row.expiresAt <= now) return { number, line, as: "skipped" };
    const name = `${spaceName(line.space)} ${row.id}`;
    const there = known.get(name);
    if (there) return { number, line, as: isSame(there, said) ? "repeated" : "conflict" };
    known.set(name, said);
    return { number, line, as: "items" };
  });
}

/** As the stores compare: times and agents do not count. */
function isSame(one: Said, other: Said): boolean {
  const of = ({ kind, role, name, content, parts, tier, metadata, session }: Said) =>
    [kind, role, name, content, tier, metadata, session, parts?.length ? parts : undefined] as const;
  return isDeepStrictEqual(of(one), of(other));
}
