/**
 * Feed: the part of a conversation that is in memory, a window of consecutive items that moves with the reader.
 *
 * Invariants:
 * - Items are in order, without gaps among those that exist. At most `WINDOW_MAX` are kept; no call asks for more than
 *   `PAGE` + 1.
 * - Operations run one after another, so that no answer is merged into a window that has moved meanwhile.
 */
import { signal } from "@preact/signals";
import { HoldfastError, type Item, type Session } from "holdfast/client";

export const PAGE = 100;
export const WINDOW_MAX = 500;

export interface Window {
  readonly items: readonly Item[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
  /** Items that others added since the reader was at the end. */
  readonly unseen: number;
  /** The item that was to be shown is not in this conversation. */
  readonly isMissing: boolean;
}

type Part = Pick<Window, "items" | "hasOlder" | "hasNewer">;

/** What to show: an end of the conversation, or an item with what surrounds it. */
export type Aim = "start" | "end" | { readonly item: string };

export type FeedState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "ready" };

export class Feed {
  readonly state = signal<FeedState>({ state: "loading" });
  readonly window = signal<Window>({ items: [], hasOlder: false, hasNewer: false, unseen: 0, isMissing: false });
  readonly #session: Session;
  #queue: Promise<unknown> = Promise.resolve();
  #loading = new Set<"older" | "newer">();
  #isEnded = false;

  constructor(session: Session) {
    this.#session = session;
  }

  open(aim: Aim): Promise<void> {
    return this.#run(async () => {
      const item = typeof aim === "object" ? aim.item : undefined;
      if (item !== undefined && this.window.value.items.some(({ id }) => id === item)) return;
      const around = item === undefined ? undefined : await this.#around(item);
      const shown = around ?? (await (aim === "start" ? this.#start() : this.#end()));
      this.#put({
        ...shown,
        isMissing: item !== undefined && around === undefined,
        ...(!shown.hasNewer && { unseen: 0 }),
      });
    });
  }

  older(): void {
    this.#once("older", async () => {
      const { items, hasOlder } = this.window.value;
      const first = items[0];
      if (!first || !hasOlder) return;
      const page = await this.#list({ start: first.id, limit: PAGE + 1 });
      const all = [...page.items.slice(1).toReversed(), ...items];
      const kept = all.slice(0, WINDOW_MAX);
      this.#put({
        items: kept,
        hasOlder: page.next !== undefined,
        ...(kept.length < all.length && { hasNewer: true }),
      });
    });
  }

  newer(): void {
    this.#once("newer", () => this.#appendNewer());
  }

  /** Others added items. What the reader looks at stays, so a full window grows only if its end is on show. */
  arrived(count: number, isAtEnd: boolean): void {
    void this.#run(async () => {
      const { items, hasNewer, unseen } = this.window.value;
      const mayGrow = !hasNewer && (isAtEnd || items.length + count <= WINDOW_MAX);
      if (mayGrow) await this.#appendNewer();
      this.#put({ unseen: isAtEnd && mayGrow ? 0 : unseen + count, ...(!mayGrow && { hasNewer: true }) });
    });
  }

  seen(): void {
    if (this.window.value.unseen > 0 && !this.window.value.hasNewer) this.#put({ unseen: 0 });
  }

  removed(ids: readonly string[]): void {
    const gone = new Set(ids);
    void this.#run(async () => this.#put({ items: this.window.value.items.filter(({ id }) => !gone.has(id)) }));
  }

  /** Reads the items that are shown again, from the first to the last for which `concerns` holds. */
  refresh(concerns: (item: Item) => boolean = () => true): Promise<void> {
    return this.#run(async () => {
      const { items } = this.window.value;
      const first = items.findIndex(concerns);
      if (first < 0) return;
      const touched = items.slice(first, items.findLastIndex(concerns) + 1);
      const fresh = new Map((await this.#readAgain(touched)).map((item) => [item.id, item]));
      const asked = new Set(touched.map(({ id }) => id));
      this.#put({
        items: items.flatMap((item) => (asked.has(item.id) ? (fresh.get(item.id) ?? []) : item)),
      });
    });
  }

  end(): void {
    this.#isEnded = true;
  }

  async #appendNewer(): Promise<void> {
    const { items } = this.window.value;
    const last = items.at(-1);
    const page = await this.#list({ ...(last && { start: last.id }), limit: PAGE + 1, order: "asc" });
    const all = [...items, ...page.items.slice(last ? 1 : 0)];
    const kept = all.slice(-WINDOW_MAX);
    this.#put({ items: kept, hasNewer: page.next !== undefined, ...(kept.length < all.length && { hasOlder: true }) });
  }

  async #start(): Promise<Part> {
    const { items, next } = await this.#list({ limit: PAGE, order: "asc" });
    return { items, hasOlder: false, hasNewer: next !== undefined };
  }

  async #end(): Promise<Part> {
    const { items, next } = await this.#list({ limit: PAGE });
    return { items: items.toReversed(), hasOlder: next !== undefined, hasNewer: false };
  }

  async #around(item: string): Promise<Part | undefined> {
    const older = await this.#list({ start: item, limit: PAGE / 2 }).catch(unlessGone);
    const newer = older && (await this.#list({ start: item, limit: PAGE / 2, order: "asc" }).catch(unlessGone));
    if (!older || !newer) return undefined;
    return {
      items: [...older.items.toReversed(), ...newer.items.slice(1)],
      hasOlder: older.next !== undefined,
      hasNewer: newer.next !== undefined,
    };
  }

  /** Page by page, each from the first item that still exists. */
  async #readAgain(items: readonly Item[]): Promise<readonly Item[]> {
    const found: Item[] = [];
    const last = items.at(-1)?.id;
    for (let at = 0; at < items.length; ) {
      const start = items[at]?.id as string;
      const limit = Math.min(PAGE, items.length - at);
      const page = await this.#list({ start, limit, order: "asc" }).catch(unlessGone);
      if (!page) {
        at += 1 + (await this.#goneAmong(items.slice(at + 1, at + 1 + PAGE)));
        continue;
      }
      found.push(...page.items);
      const end = page.items.at(-1)?.id;
      if (end === last) break;
      const reached = items.findIndex(({ id }) => id === end);
      if (reached < 0) break; // items in between are gone, and the page reaches beyond the last
      at = reached + 1;
    }
    return found;
  }

  /** How many of the first of these items no longer exist. */
  async #goneAmong(items: readonly Item[]): Promise<number> {
    if (items.length === 0) return 0;
    const alive = new Set((await this.#session.get(items.map(({ id }) => id))).map(({ id }) => id));
    const first = items.findIndex(({ id }) => alive.has(id));
    return first < 0 ? items.length : first;
  }

  #list(options: Parameters<Session["list"]>[0]) {
    return this.#session.list({ embedding: true, ...options });
  }

  #put(change: Partial<Window>): void {
    if (!this.#isEnded) this.window.value = { ...this.window.value, ...change };
  }

  #once(which: "older" | "newer", work: () => Promise<void>): void {
    if (this.#loading.has(which)) return;
    this.#loading.add(which);
    void this.#run(work).finally(() => this.#loading.delete(which));
  }

  /** An item at the edge that was deleted meanwhile is found out by reading the window again. */
  #run(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      if (this.#isEnded) return;
      try {
        await work();
        if (!this.#isEnded) this.state.value = { state: "ready" };
      } catch (error) {
        if (this.#isEnded) return;
        if (isGone(error)) void this.refresh();
        else this.state.value = { state: "failed", error };
      }
    });
    this.#queue = done;
    return done;
  }
}

const isGone = (error: unknown): boolean => error instanceof HoldfastError && error.code === "not_found";

function unlessGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}
