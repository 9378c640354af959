/**
 * GraphItems: the items of a graph in one space, read in order and written without losing concurrent changes.
 *
 * - An item that another process added meanwhile is found by its id and kept. An item that was edited into something else is
 *   replaced, and its text is kept.
 * - An edit is compare-and-set on the version that was read, and repeated on a conflict.
 */
import { HoldfastError } from "../../errors.js";
import { newId } from "../../ids.js";
import { invalid } from "../../input/refusal.js";
import type { Session } from "../../session.js";
import type { Item, ItemPatch, NewItem } from "../../types.js";
import type { Entity, Relation } from "./graph.js";
import {
  type Draft,
  entityOf,
  entityParts,
  type GraphKind,
  inPlaceOf,
  isPart,
  itemOf,
  relationOf,
} from "./graph-item.js";

/** The part of a session that a knowledge graph needs. */
export type GraphSession = Pick<Session, "scope" | "addItems" | "get" | "list" | "update" | "delete">;

/** An entity or a relation, and its item. */
export interface Kept<T> {
  readonly item: Item;
  readonly value: T;
}

/** Over HTTP a page is one response, and entities may be long. */
const PAGE = 250;

export class GraphItems {
  readonly #session: GraphSession;

  constructor(session: GraphSession) {
    if (session.scope.session !== undefined) {
      throw invalid(
        "scope.session",
        "must be omitted for a graph",
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

  /** The entities with these ids, by id. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Kept<Entity>>> {
    if (ids.length === 0) return new Map();
    const items = await this.#session.get(ids);
    return new Map(items.flatMap((item) => asKept(item, entityOf)).map((kept) => [kept.item.id, kept]));
  }

  /** Items with ids of this kind that are no longer part of the graph. */
  async estranged(kind: GraphKind, ids: readonly string[]): Promise<readonly Item[]> {
    if (ids.length === 0) return [];
    return (await this.#session.get(ids)).filter((item) => !isPart(item, kind));
  }

  /** Adds what does not exist yet; returns the indexes of those added. */
  async add(drafts: readonly Draft[]): Promise<ReadonlySet<number>> {
    const call = newId(Date.now());
    for (;;) {
      const items = await this.#session.get(drafts.map(({ id }) => id));
      const there = new Map(items.map((item) => [item.id, item]));
      const isTaken = ({ id, kind }: Draft): boolean => {
        const item = there.get(id);
        return item !== undefined && item.metadata["call"] !== call && isPart(item, kind);
      };
      const taken = new Set(drafts.filter(isTaken).map(({ id }) => id));
      const own = [...drafts.entries()].filter(([, { id, first }]) => !taken.has(id) && !taken.has(first));
      const drawn = own.map(([, draft]) => draft);
      if (await this.#write(drawn, there, call)) return new Set(own.map(([at]) => at));
    }
  }

  /** Edits an entity's observations; undefined if it no longer exists. `change` may be called again, with newer ones. */
  async edit(
    { item, value }: Kept<Entity>,
    change: (observations: readonly string[]) => readonly string[],
  ): Promise<Entity | undefined> {
    let kept: Kept<Entity> | undefined = { item, value };
    while (kept) {
      const observations = change(kept.value.observations);
      if (isSame(observations, kept.value.observations)) return kept.value;
      const entity = { ...kept.value, observations };
      if (await this.#replace(kept.item, { content: entityParts(entity) })) return entity;
      kept = (await this.find([item.id])).get(item.id);
    }
    return undefined;
  }

  async delete(items: readonly Item[]): Promise<void> {
    if (items.length > 0) await this.#session.delete(items.map(({ id }) => id));
  }

  /** False on a conflict. What was written before it has the mark of the call. */
  async #write(drafts: readonly Draft[], there: ReadonlyMap<string, Item>, call: string): Promise<boolean> {
    const missing = drafts.filter(({ id }) => !there.has(id)).map((draft) => itemOf(draft, call));
    if (missing.length > 0 && !(await this.#insert(missing))) return false;
    for (const draft of drafts) {
      const item = there.get(draft.id);
      const isToReplace = item !== undefined && item.metadata["call"] !== call;
      if (isToReplace && !(await this.#replace(item, inPlaceOf(item, draft, call)))) return false;
    }
    return true;
  }

  /** False if one of the ids exists now; nothing was added then. */
  async #insert(items: readonly NewItem[]): Promise<boolean> {
    try {
      await this.#session.addItems(items);
      return true;
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }

  /** False if the item was changed or deleted since it was read. */
  async #replace({ id, version }: Item, patch: ItemPatch): Promise<boolean> {
    try {
      await this.#session.update(id, patch, { expectVersion: version });
      return true;
    } catch (error) {
      if (isOvertaken(error) || isGone(error)) return false;
      throw error;
    }
  }

  /** In order of creation. */
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

/** Another write came first. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === "conflict" && typeof error.details["version"] === "number";

const isGone = (error: unknown): boolean => error instanceof HoldfastError && error.code === "not_found";
