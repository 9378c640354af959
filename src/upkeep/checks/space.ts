/** Whether the file's vectors were made by the model that is configured. */
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
  if (model === undefined) return ok(`${named}; no model is configured, so questions are answered by words`);
  if (next?.model === model) return ok(`${named}; vectors of ${nameOf(next)} are being made to take their place`);
  return error(
    `the file's vectors are of ${named}, and ${model} is configured`,
    "configure the model that the file was made with, or make its vectors anew: holdfast reindex",
  );
}

const nameOf = ({ model, runtime, dimensions }: VectorSpace): string =>
  `${model} (${runtime}, ${dimensions} dimensions)`;
