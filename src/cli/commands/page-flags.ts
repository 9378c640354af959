/** Flags for paging. */
import type { Option } from "commander";
import type { PageOptions } from "../../input/page.js";
import type { Page } from "../../types.js";
import type { Call } from "../call.js";
import { flag } from "../definition.js";
import { wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";

export interface PageFlags {
  readonly limit?: number;
  readonly cursor?: string;
}

export const pageOptions = (noun: string): readonly Option[] => [
  flag("-n, --limit <n>", `maximum number of ${noun} (default: 100)`, wholeNumber),
  flag("--cursor <cursor>", "the next page, as printed by the previous one"),
];

export function pageOf(call: Call): PageOptions {
  const { limit, cursor } = call.flags<PageFlags>();
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
}

export function noteNext({ printer }: Call, { items, next }: Page<unknown>, noun: string): void {
  if (items.length === 0) printer.note(`no ${noun}`);
  if (next !== undefined) printer.note(styled("dim", `more: --cursor ${next}`));
}
