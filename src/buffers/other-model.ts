/** What a process is told whose model is not the one of the file's vectors. */
import { HoldfastError } from "../errors.js";
import type { Store } from "../stores/store.js";
import { isSameSpace, nameOfSpace } from "../stores/vector-space.js";
import type { VectorSpace } from "../types.js";

/** When it opens the file. */
export function otherModel(theirs: string, ours: string): HoldfastError {
  return new HoldfastError(
    "vector_space",
    `the file's vectors were made by ${theirs}; this memory would make them by ${ours}`,
    {
      hint: `open it with the embedding model ${theirs}, or with "none" for words only, or re-embed it for ${ours}; nothing was changed`,
      details: { file: theirs, configured: ours },
    },
  );
}

/** When the file was re-embedded while it was open. */
export function nowOtherModel(kept: VectorSpace, ours: VectorSpace): HoldfastError {
  return new HoldfastError(
    "vector_space",
    `the file's vectors are now of ${nameOfSpace(kept)}, not of ${nameOfSpace(ours)}: open it with that model`,
    {
      hint: `open it again with the embedding model ${kept.model}; until then words alone are searched, and what was added waits`,
      details: { kept, given: ours },
    },
  );
}

/** Rejects if the store was re-embedded with another model than this, which it had before. */
export async function requireServed(store: Pick<Store, "vectorSpace">, ours: VectorSpace | undefined): Promise<void> {
  const kept = ours && (await store.vectorSpace());
  if (kept && !isSameSpace(kept, ours)) throw nowOtherModel(kept, ours);
}

/** What the store has refused, as it is to be told: the file may have been re-embedded. */
export function explained(refusal: HoldfastError): HoldfastError {
  const { kept, given } = refusal.details;
  if (refusal.code !== "vector_space" || !kept || !given) return refusal;
  return nowOtherModel(kept as VectorSpace, given as VectorSpace);
}
