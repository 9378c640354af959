/** Checks whether the configured model made the file's vectors. */
import type { VectorSpace } from "../../types.js";
import { error, type Finding, ok } from "../diagnosis.js";

export function checkSpace(
  kept: VectorSpace | undefined,
  next: VectorSpace | undefined,
  model: string | undefined,
): Finding {
  if (!kept) return ok("the file has no vectors yet");
  const named = nameOf(kept);
  if (kept.model === model) return ok(named);
  if (model === undefined) return ok(`${named}; no model is configured, so search is by words`);
  if (next?.model === model) return ok(`${named}; vectors of ${nameOf(next)} are being made to replace them`);
  return error(
    `the file's vectors were made by ${named}, but ${model} is configured`,
    "configure the model that made them, or re-embed everything: holdfast reindex",
  );
}

const nameOf = ({ model, runtime, dimensions }: VectorSpace): string =>
  `${model} (${runtime}, ${dimensions} dimensions)`;
