/** Exact scores by vectors of a few items that are known by their keys, from the file. Requires a snapshot. */
import type { Scores, ScoresRequest } from "../indexing.js";
import { isSameSpace } from "../vector-space.js";
import type { Registry } from "./registry.js";
import type { ItemScore, VectorFile } from "./vector-file.js";
import type { VectorTables } from "./vector-table.js";

/** Longer vectors than these of one item are not read beside other work: that of a document can have megabytes. */
const BYTES_MAX = 64 * 1024;

export class VectorScores {
  readonly #registry: Registry;
  readonly #tables: VectorTables;
  readonly #file: VectorFile;

  constructor(registry: Registry, tables: VectorTables, file: VectorFile) {
    this.#registry = registry;
    this.#tables = tables;
    this.#file = file;
  }

  /** Without items that have no vectors, or very many. */
  of({ spaces, vectorSpace, vector, items }: ScoresRequest): Scores {
    const table = this.#tables.current();
    if (!table || !isSameSpace(table.space, vectorSpace) || vector.length !== vectorSpace.dimensions)
      return { scored: [], below: [] };
    const keys = items.map(({ key }) => key);
    const scores = this.#registry
      .findSpaces(spaces)
      .flatMap((space) => this.#file.scores(space.key, keys, table, vector, BYTES_MAX));
    return judged(items, scores);
  }
}

/** Which of the scores reach their floors, and which do not. */
export function judged(items: ScoresRequest["items"], scores: readonly ItemScore[]): Scores {
  const floors = new Map(items.map(({ key, floor }) => [key, floor]));
  const reaches = ({ key, score }: ItemScore): boolean => score >= Number(floors.get(key));
  return {
    scored: scores.filter(reaches),
    below: scores.flatMap((item) => (reaches(item) ? [] : item.key)),
  };
}
