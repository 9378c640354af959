/** Writes units, each all or nothing. Throws the first failure that is not a conflict. */
import type { UnitResult } from "../buffers/write.js";
import type { BufferService } from "../service.js";
import type { Done, Unit } from "../stores/store.js";

/** The results; undefined for a unit that conflicts with existing data, if the caller allows conflicts. */
export async function writeEach(
  service: BufferService,
  units: readonly Unit[],
  { mayConflict = false } = {},
): Promise<readonly (readonly Done[] | undefined)[]> {
  const results = await service.writeAll(units);
  return results.map((result) => {
    if (result.ok) return result.done;
    if (mayConflict && isConflict(result)) return undefined;
    throw result.error;
  });
}

/** A cycle of sources, or an item with the id of a fact, counts as a conflict, too. */
const isConflict = (result: UnitResult): boolean =>
  !result.ok && ["conflict", "invalid_input"].includes(result.error.code);
