/** ShownItem: an item in structured content. Times are numbers, as everywhere in the API. */
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

/** `content` may be a part of the item's content. */
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
