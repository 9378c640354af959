/** Reads what was set aside, page by page. */
import type { ParkedItem, ParkedPage, ParkedRequest } from "../indexing.js";
import { laneOf } from "./lanes.js";
import type { Mark, Marked, Parking } from "./marks.js";
import { pageOf } from "./page.js";
import { isVisible } from "./row.js";
import type { State } from "./state.js";

export function parkedItems({ spaces, limit, cursor, now }: ParkedRequest, { marks, registry }: State): ParkedPage {
  const asked = new Set(registry.findAll(spaces));
  const found = marks.parked().filter(({ row, mark }) => asked.has(mark.space) && isVisible(row, mark.space, now));
  const page = pageOf(found, { list: "parked", key: ({ key }) => [key], order: "asc", limit, cursor });
  return {
    ...page,
    items: page.items.flatMap(({ mark, row }) => (mark.parking ? toParked(mark, row, mark.parking) : [])),
  };
}

function toParked(mark: Mark, { id, version }: Marked["row"], parking: Parking): ParkedItem {
  return { ...laneOf(mark), id, version, attempts: mark.attempts, ...parking };
}
