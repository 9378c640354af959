/** Searches by words, space by space, and scores given items. */
import { endingBy, type Scored, type WordsRequest } from "../store.js";
import { passes } from "./filter.js";
import { isVisible, type Row, toScored } from "./row.js";
import type { State } from "./state.js";

export function searchWords(request: WordsRequest, { registry, marks }: State): readonly Scored[] {
  const { spaces, terms, filter, limit, now, keys } = request;
  const hits = registry.findAll(spaces).flatMap((space) => {
    const isSeen = (row: Row): boolean => isVisible(row, space, now);
    const wanted = keys?.flatMap((key) => {
      const mark = marks.get(key);
      return mark?.space === space ? mark.id : [];
    });
    const scores = space.words.scores(wanted ?? space.words.find(terms, isSeen), terms, isSeen);
    return [...scores].flatMap(([id, { score, until }]) => {
      const row = space.rows.get(id);
      const isFound = row && isSeen(row) && passes(row, filter, marks) && (wanted || score > 0);
      return isFound ? { row, space, score, until } : [];
    });
  });
  hits.sort((a, b) => b.score - a.score || b.row.arrival - a.row.arrival);
  const best = hits.slice(0, keys ? undefined : limit);
  return best.map(({ row, space, score, until }) => endingBy(toScored(row, space, score), until));
}
