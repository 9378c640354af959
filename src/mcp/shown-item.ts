/** ShownItem: an item in the structured content of an answer. Its times are numbers, as everywhere in the API. */
import { ItemSchema } from "../schemas/item.js";
import type { Item } from "../types.js";

export const ShownItem = ItemSchema.pick({
  id: true,
  kind: true,
  role: true,
  session: true,
  content: true,
  occurredAt: true,
});

/** `content` may be a part of the item's. */
export function shownItem({ id, kind, role, session, occurredAt }: Item, content: string) {
  return {
    id,
    kind,
    ...(role !== undefined && { role }),
    ...(session !== undefined && { session }),
    content,
    occurredAt,
  };
}
