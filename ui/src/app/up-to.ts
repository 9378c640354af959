/** The first entries of a list, page by page. */
import type { Page } from "holdfast/client";

const PAGE = 100;

type Read<T> = (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<T>>;

export async function upTo<T>(
  count: number,
  read: Read<T>,
): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }> {
  const items: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined || items.length >= count) return { items, hasMore: cursor !== undefined };
  }
}
