/** Searches vectors by a plain scan of the spaces asked for, and reads chunks. */
import { chunkId } from "../../retrieval/chunks/id.js";
import type { SpaceRef } from "../../types.js";
import type { Scores, ScoresRequest, StoredChunk, VectorScored, VectorsRequest } from "../indexing.js";
import { isSameSpace } from "../vector-space.js";
import { passes } from "./filter.js";
import type { Embedding } from "./marks.js";
import { isVisible, type Row, toScored } from "./row.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

export function searchVectors(request: VectorsRequest, state: State): readonly VectorScored[] {
  const { vectorSpace, vector, unsent } = request;
  if (!state.vectorSpace || !isSameSpace(state.vectorSpace, vectorSpace)) return [];
  const hits: VectorScored[] = [];
  for (const { space, row, embedding } of embedded(request, state)) {
    if (unsent && !state.outbox.hasRows(row.arrival)) continue;
    const best = bestPart(embedding, vector);
    if (best) hits.push({ ...toScored(row, space, best.score), part: best.part });
  }
  return hits.sort((a, b) => b.score - a.score || b.key - a.key).slice(0, request.limit);
}

export function scoreVectors({ spaces, vectorSpace, vector, items }: ScoresRequest, state: State): Scores {
  const scored: { key: number; score: number }[] = [];
  const below: number[] = [];
  if (!state.vectorSpace || !isSameSpace(state.vectorSpace, vectorSpace)) return { scored, below };
  const floors = new Map(items.map(({ key, floor }) => [key, floor]));
  for (const { rows } of state.registry.findAll(spaces)) {
    for (const { arrival: key } of rows.values()) {
      const embedding = floors.has(key) ? state.marks.get(key)?.embedding : undefined;
      const best = embedding && bestPart(embedding, vector);
      if (!best) continue;
      if (best.score < Number(floors.get(key))) below.push(key);
      else scored.push({ key, score: best.score });
    }
  }
  return { scored, below };
}

export function chunks(refs: readonly SpaceRef[], ids: readonly string[], now: number, state: State): StoredChunk[] {
  const spaces = state.registry.findAll(refs);
  return [...new Set(ids)].flatMap((id) =>
    spaces.flatMap((space) => {
      const row = space.rows.get(id);
      return row && isVisible(row, space, now) ? chunksOf(row, space, state) : [];
    }),
  );
}

function chunksOf(row: Row, space: Space, { marks }: State): StoredChunk[] {
  const { id: item, version, arrival: key } = row;
  const embedding = marks.get(key)?.embedding;
  if (!embedding) return [];
  const borrowed = embedding.borrowed.flatMap((lender) => marks.get(lender)?.id ?? []);
  const parts = embedding.spans.length;
  return embedding.spans.map(({ start, end }, part) => {
    const id = chunkId(space.entry.id, key, part);
    return { id, key, item, version, part, parts, start, end, borrowed };
  });
}

function* embedded({ spaces, filter, now }: VectorsRequest, { registry, marks }: State) {
  for (const space of registry.findAll(spaces)) {
    for (const row of space.rows.values()) {
      const embedding = marks.get(row.arrival)?.embedding;
      if (embedding && isVisible(row, space, now) && passes(row, filter, marks)) yield { space, row, embedding };
    }
  }
}

/** The chunk nearest to the vector, the first of equals. Both are of unit length, so the product is the cosine. */
function bestPart({ spans, vectors }: Embedding, vector: Float32Array) {
  let best: { readonly score: number; readonly part: number } | undefined;
  for (const part of spans.keys()) {
    let score = 0;
    for (const [place, value] of vector.entries()) score += value * (vectors[part * vector.length + place] ?? 0);
    if (!best || score > best.score) best = { score, part };
  }
  return best;
}
