/** Imports the log of promotions. The copies themselves are imported as items and facts. */
import type { BufferService } from "../service.js";
import type { Unit } from "../stores/store.js";
import type { PromotionInput } from "./line.js";
import type { Numbered, Tally } from "./report.js";
import { writeEach } from "./write-each.js";

export async function importPromotions(
  service: BufferService,
  batch: readonly Numbered<PromotionInput>[],
  tally: Tally,
): Promise<void> {
  const units = batch.map(({ line: { type: _, space: to, ...promotion } }): Unit => {
    return [{ op: "restore_promotion", ...promotion, to }];
  });
  for (const done of await writeEach(service, units)) {
    const [first] = done ?? [];
    tally.count(first?.op === "restore_promotion" && first.restored ? "promotions" : "repeated");
  }
}
