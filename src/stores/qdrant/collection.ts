/**
 * The collection of one vector space: its name, and the check that an existing one is ours. A foreign collection is
 * left unchanged. No collection is ever recreated, and its vectors are never altered.
 */
import { createHash } from "node:crypto";
import type { QdrantClient, Schemas } from "@qdrant/js-client-rest";
import { HoldfastError } from "../../errors.js";
import type { VectorSpace } from "../../types.js";
import { statusOf } from "./failure.js";

export const DISTANCE = "Cosine";
const NAME_MAX = 120;

/** Indexed payload fields. Every search filters by the space; the key is for looking up a single item. */
const PAYLOAD_INDEXES = {
  space: { type: "keyword", is_tenant: true },
  key: { type: "integer", lookup: true, range: false },
} as const;

type Api = ReturnType<QdrantClient["api"]>;
type Vectors = Schemas["CollectionInfo"]["config"]["params"]["vectors"];

/**
 * A name of letters, digits, dots and dashes, with underscores between the parts. If the model or runtime contains
 * other characters, a hash is appended, so that two spaces never share a name.
 */
export function collectionName(prefix: string, { model, runtime, dimensions }: VectorSpace): string {
  const plain = [model, runtime].map((part) => part.toLowerCase().replace(/[^a-z0-9.-]+/g, "-"));
  const name = [prefix, ...plain, dimensions].join("_");
  const isFaithful = plain[0] === model && plain[1] === runtime && name.length <= NAME_MAX;
  if (isFaithful) return name;
  const hash = createHash("sha256")
    .update(JSON.stringify([model, runtime, dimensions]))
    .digest("hex")
    .slice(0, 12);
  return `${name.slice(0, NAME_MAX)}_${hash}`;
}

/** Creates the collection and its payload indexes if they are missing. Other processes may do the same concurrently. */
export async function prepareCollection(api: Api, name: string, size: number, init: RequestInit): Promise<void> {
  const info = (await infoOf(api, name, init)) ?? (await create(api, name, size, init));
  const { vectors } = info.config.params;
  if (!isOurs(vectors, size)) {
    throw new HoldfastError("vector_space", `the collection ${name} is not one of ${size} dimensions by cosine`, {
      hint: "give another `collection` prefix, or remove the collection yourself if nobody needs it",
      details: { collection: name },
    });
  }
  for (const [field, schema] of Object.entries(PAYLOAD_INDEXES)) {
    if (info.payload_schema[field]) continue;
    await api.createFieldIndex({ collection_name: name, wait: true, field_name: field, field_schema: schema }, init);
  }
}

async function create(api: Api, name: string, size: number, init: RequestInit): Promise<Schemas["CollectionInfo"]> {
  let failure: unknown;
  try {
    await api.createCollection({ collection_name: name, vectors: { size, distance: DISTANCE } }, init);
  } catch (error) {
    // Another process may have been faster: servers then answer 409, older ones 400.
    const status = statusOf(error);
    if (status !== 409 && status !== 400) throw error;
    failure = error;
  }
  const info = await infoOf(api, name, init);
  if (info) return info;
  throw (
    failure ??
    new HoldfastError("index_failed", `Qdrant reported that it created the collection ${name}, but does not have it`)
  );
}

async function infoOf(api: Api, name: string, init: RequestInit): Promise<Schemas["CollectionInfo"] | undefined> {
  try {
    return (await api.getCollection({ collection_name: name }, init)).data.result;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Whether points have one unnamed vector of this size, compared by cosine. */
function isOurs(vectors: Vectors, size: number): boolean {
  return vectors?.["size"] === size && vectors["distance"] === DISTANCE;
}
