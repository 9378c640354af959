/** Writes units, each all or nothing; the first failure that is not a conflict is thrown. */
import type { UnitResult } from "../buffers/write.js";
import type { BufferService } from "../service.js";
import type { Done, Unit } from "../stores/store.js";

/** What each unit did; undefined for one that conflicts with what is there, where the caller says that this may be. */
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

/** A circle of sources, or an item in the place of a fact, is a conflict with what is there too. */
const isConflict = (result: UnitResult): boolean =>
  !result.ok && ["conflict", "invalid_input"].includes(result.error.code);
