/** Errors for a process whose model differs from the model of the file's vectors. */
import { HoldfastError } from "../errors.js";
import type { Store } from "../stores/store.js";
import { isSameSpace, nameOfSpace } from "../stores/vector-space.js";
import type { VectorSpace } from "../types.js";

/** The error when such a process opens the file. */
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

/** The error when the file was re-embedded while it was open. */
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

/** Rejects if the store, which held vectors of this model, was re-embedded with another one. */
export async function requireServed(store: Pick<Store, "vectorSpace">, ours: VectorSpace | undefined): Promise<void> {
  const kept = ours && (await store.vectorSpace());
  if (kept && !isSameSpace(kept, ours)) throw nowOtherModel(kept, ours);
}

/** Turns the store's rejection into the error for the caller: the file may have been re-embedded. */
export function explained(refusal: HoldfastError): HoldfastError {
  const { kept, given } = refusal.details;
  if (refusal.code !== "vector_space" || !kept || !given) return refusal;
  return nowOtherModel(kept as VectorSpace, given as VectorSpace);
}
