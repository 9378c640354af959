/**
 * GraphItems: the items of a graph in one space, read in their order and changed without losing what others write.
 *
 * - What is added meets what somebody else has added meanwhile by its id, and gives way to it.
 * - An edit is made from what was read and written only if nothing came between; else it is made anew.
 */
import { HoldfastError } from "../errors.js";
import { newId } from "../ids.js";
import { invalid } from "../input/refusal.js";
import type { Session } from "../session.js";
import type { Item } from "../types.js";
import type { Entity, Relation } from "./graph.js";
import { type Draft, entityOf, entityParts, type GraphKind, itemOf, relationOf } from "./graph-item.js";

export type GraphSession = Pick<Session, "scope" | "addItems" | "get" | "list" | "update" | "delete">;

/** An entity or a relation, with the item that it is. */
export interface Kept<T> {
  readonly item: Item;
  readonly value: T;
}

/** A page over HTTP is one answer; entities may be long. */
const PAGE = 250;

export class GraphItems {
  readonly #session: GraphSession;

  constructor(session: GraphSession) {
    if (session.scope.session !== undefined) {
      throw invalid(
        "scope.session",
        "must be left out for a graph",
        "a graph belongs to a whole memory, not to a session",
      );
    }
    this.#session = session;
  }

  entities(): AsyncGenerator<Kept<Entity>, void, void> {
    return this.#all("entity", entityOf);
  }

  relations(): AsyncGenerator<Kept<Relation>, void, void> {
    return this.#all("relation", relationOf);
  }

  /** The entities of these ids, by id. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Kept<Entity>>> {
    if (ids.length === 0) return new Map();
    const items = await this.#session.get(ids);
    return new Map(items.flatMap((item) => asKept(item, entityOf)).map((kept) => [kept.item.id, kept]));
  }

  /** Adds what is not there yet; answers with the places of those that it has added. */
  async add(drafts: readonly Draft[]): Promise<ReadonlySet<number>> {
    const call = newId(Date.now());
    for (;;) {
      const there = await this.#session.get(drafts.map(({ id }) => id));
      const ids = new Set(there.map(({ id }) => id));
      const others = new Set(there.flatMap(({ id, metadata }) => (metadata["call"] === call ? [] : [id])));
      const own = [...drafts.entries()].filter(([, { id, first }]) => !others.has(id) && !others.has(first));
      const missing = own.flatMap(([, draft]) => (ids.has(draft.id) ? [] : [itemOf(draft, call)]));
      try {
        if (missing.length > 0) await this.#session.addItems(missing);
        return new Set(own.map(([at]) => at));
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
  }

  /** Gives an entity other observations; undefined if it is gone. `change` may be called again, with newer ones. */
  async edit(
    { item, value }: Kept<Entity>,
    change: (observations: readonly string[]) => readonly string[],
  ): Promise<Entity | undefined> {
    let kept: Kept<Entity> | undefined = { item, value };
    while (kept) {
      const observations = change(kept.value.observations);
      if (isSame(observations, kept.value.observations)) return kept.value;
      const entity = { ...kept.value, observations };
      try {
        const expectVersion = kept.item.version;
        await this.#session.update(item.id, { content: entityParts(entity) }, { expectVersion });
        return entity;
      } catch (error) {
        if (!isOvertaken(error) && !isGone(error)) throw error;
      }
      kept = (await this.find([item.id])).get(item.id);
    }
    return undefined;
  }

  async delete(items: readonly Item[]): Promise<void> {
    if (items.length > 0) await this.#session.delete(items.map(({ id }) => id));
  }

  /** In the order in which they were added. */
  async *#all<T>(kind: GraphKind, read: (item: Item) => T | undefined): AsyncGenerator<Kept<T>, void, void> {
    const request = { kind: "knowledge", metadata: { graph: kind }, order: "asc", limit: PAGE } as const;
    let cursor: string | undefined;
    do {
      const page = await this.#session.list({ ...request, ...(cursor !== undefined && { cursor }) });
      for (const item of page.items) yield* asKept(item, read);
      cursor = page.next;
    } while (cursor !== undefined);
  }
}

function asKept<T>(item: Item, read: (item: Item) => T | undefined): readonly Kept<T>[] {
  const value = read(item);
  return value === undefined ? [] : [{ item, value }];
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at]);

/** Somebody else was faster. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === "conflict" && typeof error.details["version"] === "number";

const isGone = (error: unknown): boolean => error instanceof HoldfastError && error.code === "not_found";
