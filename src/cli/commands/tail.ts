/** holdfast tail: the newest items, then new ones as they are added. */
import type { ListOptions } from "../../input/list.js";
import type { Item, Page } from "../../types.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { type MetadataFilter, wholeNumber } from "../flag-values.js";
import type { OpenedMemory } from "../opened-memory.js";
import { metadataFlag, shortOf, speakerOf } from "./item-lines.js";

interface TailFlags {
  readonly limit: number;
  readonly follow: boolean;
  readonly full?: boolean;
  readonly metadata?: MetadataFilter;
}

export const tailCommand: Definition = {
  name: "tail",
  purpose: "Show the newest items, then new ones as they are added.",
  about: "Follows a memory, or one of its sessions, until Ctrl-C. With --json each item is one line.",
  options: [
    flag("-n, --limit <n>", "number of items to start with", wholeNumber).default(10),
    flag("--no-follow", "exit after these"),
    metadataFlag(),
    flag("--full", "print the full text of each item"),
  ],
  isScoped: true,
  endsByInterrupt: true,
  examples: [
    "holdfast tail",
    "holdfast tail --user ada --session monday -n 50 --no-follow",
    "holdfast tail --json | jq .content",
  ],
  async run(call) {
    const { limit, follow, metadata } = call.flags<TailFlags>();
    await call.withSession({}, async (session, memory) => {
      const list: List = (options) => session.list({ ...options, ...(metadata !== undefined && { metadata }) });
      if (follow) return watch(call, list, memory, limit);
      await printFirst(call, await newest(list, limit));
    });
  },
};

/** Of the rows in a pipe. */
const COLUMNS = ["ID", "WHEN", "WHO", "SESSION", "CONTENT"];

/** Lists the items that are asked for. */
type List = (options: Pick<ListOptions, "limit" | "cursor">) => Promise<Page<Item>>;

/** Oldest first. */
async function newest(list: List, limit: number): Promise<readonly Item[]> {
  return limit === 0 ? [] : (await list({ limit })).items.toReversed();
}

/** Events only trigger a read; the list tells what was added and in which order. So nothing is missed or repeated. */
async function watch(call: Call, list: List, memory: OpenedMemory, limit: number): Promise<void> {
  const { signal } = call.io;
  // Subscribe before the first read, so that nothing falls between them.
  const events = memory.events(call.scope, signal);
  const seen = new Seen();
  const first = await newest(list, limit);
  seen.note(limit === 0 ? await newest(list, 1) : first);
  await printFirst(call, first);
  for await (const { type } of events) {
    if (!SHOWING.has(type)) continue;
    const items = await seen.newer(list);
    for (const item of items) await print(call, item);
    seen.note(items);
  }
}

/** Events after which there may be new items. */
const SHOWING: ReadonlySet<string> = new Set([
  "added",
  "promoted",
  "fact",
  "block",
  "changed",
  "missed",
  "reconnected",
]);
const PAGE = 500;
const IDS_MAX = 10_000;

/** The items shown last, to find those after them. */
class Seen {
  #ids = new Set<string>();
  #recordedAt = 0;

  note(items: readonly Item[]): void {
    for (const { id, recordedAt } of items) {
      this.#ids.add(id);
      this.#recordedAt = Math.max(this.#recordedAt, recordedAt);
    }
    if (this.#ids.size > IDS_MAX) this.#ids = new Set([...this.#ids].slice(-IDS_MAX / 2));
  }

  /** New items, oldest first: all before the first that was shown. If those are forgotten, the time decides. */
  async newer(list: List): Promise<readonly Item[]> {
    const isNew = ({ recordedAt }: Item): boolean => recordedAt >= this.#recordedAt;
    const found: Item[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
      for (const item of items) {
        if (this.#ids.has(item.id)) return found.toReversed();
        found.push(item);
      }
      cursor = next;
      if (cursor === undefined || !items.some(isNew)) return found.filter(isNew).toReversed();
    }
  }
}

async function printFirst(call: Call, items: readonly Item[]): Promise<void> {
  const { printer } = call;
  if (!printer.json && !printer.isTerminal) await printer.row(COLUMNS);
  for (const item of items) await print(call, item);
}

async function print(call: Call, item: Item): Promise<void> {
  const { printer } = call;
  const { id, session = "", content, occurredAt } = item;
  const time = call.time(occurredAt);
  if (printer.json) return printer.record(item);
  if (!printer.isTerminal) return printer.row([id, time, speakerOf(item), session, content]);
  await printer.head([time, speakerOf(item), session], id);
  if (call.flags<TailFlags>().full) return printer.text(content);
  return printer.cutLine("  ", shortOf(content));
}
