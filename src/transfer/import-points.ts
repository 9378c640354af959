/** Imports points. An existing one must be equal. */
import type { BufferService } from "../service.js";
import type { Unit } from "../stores/store.js";
import type { PointInput } from "./line.js";
import type { Numbered, Tally } from "./report.js";
import { writeEach } from "./write-each.js";

export async function importPoints(
  service: BufferService,
  batch: readonly Numbered<PointInput>[],
  tally: Tally,
): Promise<void> {
  const units = batch.map(({ line: { type: _, ...point } }): Unit => {
    return [{ op: "put_point", ...point, existing: "same" }];
  });
  const results = await writeEach(service, units, { mayConflict: true });
  for (const [at, { number, line }] of batch.entries()) {
    const [done] = results[at] ?? [];
    if (done?.op !== "put_point") tally.conflict(number, line.id, "a point");
    else tally.count(done.outcome === "unchanged" ? "repeated" : "points");
  }
}
