/** Builds the answers to add calls from the results of their units. */
import { HoldfastError } from "../errors.js";
import type { Added } from "../types.js";
import type { UnitResult } from "./write.js";

/** The answer to one add. Throws the error of its first failed unit. */
export function mergeAdded(results: readonly UnitResult[], expected: number): Added {
  const ids: string[] = [];
  const sequences: number[] = [];
  let repeated = true;
  for (const result of results) {
    if (!result.ok) throw withProgress(result.error, ids.length);
    repeated &&= result.repeated || result.done.every((done) => done.op === "add" && done.repeated);
    for (const done of result.done) {
      if (done.op !== "add") continue;
      ids.push(...done.ids);
      sequences.push(...done.sequences);
    }
  }
  if (results.length < expected) throw new HoldfastError("store_failed", "the call was not written completely");
  return { ids, sequences, repeated };
}

/** The combined answer to several consecutive adds. */
export function joinAdded(added: readonly Added[]): Added {
  return {
    ids: added.flatMap(({ ids }) => ids),
    sequences: added.flatMap(({ sequences }) => sequences),
    repeated: added.every(({ repeated }) => repeated),
  };
}

/** Adds to the error of a large add how many messages before the failed part are written. */
function withProgress(error: HoldfastError, written: number): HoldfastError {
  if (written === 0) return error;
  return new HoldfastError(error.code, `${error.message} (the ${written} messages before it are written)`, {
    cause: error,
    details: { ...error.details, written },
    ...(error.hint !== undefined && { hint: error.hint }),
  });
}

/** The answers to a batch. Throws an error that lists the failed rounds and carries the answers of the others. */
export function batchAnswer(
  results: readonly (readonly UnitResult[])[],
  expected: readonly number[],
): readonly Added[] {
  const added: Added[] = [];
  const failed: { round: number; error: HoldfastError }[] = [];
  for (const [round, parts] of results.entries()) {
    try {
      added.push(mergeAdded(parts, expected[round] ?? 1));
    } catch (error) {
      failed.push({ round, error: error as HoldfastError });
    }
  }
  const [first] = failed;
  if (!first) return added;
  throw new HoldfastError(
    first.error.code,
    `${failed.length} of ${results.length} rounds failed: ${first.error.message}`,
    {
      cause: first.error,
      details: {
        added,
        failed: failed.map(({ round, error }) => ({ round, code: error.code, message: error.message })),
      },
      ...(first.error.hint !== undefined && { hint: first.error.hint }),
    },
  );
}
