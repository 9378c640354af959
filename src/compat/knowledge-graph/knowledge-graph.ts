/**
 * KnowledgeGraph: the nine operations of the reference MCP memory server on a Holdfast memory, in this process or through a
 * server. They answer like the reference, and differ where the reference loses data:
 *
 * - Any number of processes may write concurrently without undoing each other's writes.
 * - Everything created in one call is one transaction, up to 256 things or 1 MB. Observations of several entities are checked
 *   together and written entity by entity; repeating an interrupted call adds what is missing.
 * - An entity with all its observations is one item, and so at most 8 MiB (`too_large`).
 * - An item that was edited by other means and is no longer part of the graph is ignored: a new thing of its name replaces it
 *   and keeps its text as an observation; a deletion removes it, too.
 *
 * An entity is identified by the first item of its name. One race remains: if an entity is deleted and created again between
 * the read and the write of an edit that was based on version 1, the edit does not notice, because it has version 1 again.
 */
import { HoldfastError } from "../../errors.js";
import { around, type Entity, type Graph, isSameRelation, mentions, type Relation } from "./graph.js";
import {
  type NewObservations,
  type OldObservations,
  parseAddition,
  parseDeletion,
  parseEntity,
  parseList,
  parseRelation,
  parseString,
  parseStrings,
} from "./graph-input.js";
import { entityDraft, entityId, relationDraft, relationId } from "./graph-item.js";
import { GraphItems, type GraphSession, type Kept } from "./graph-items.js";
import { Ordinals } from "./ordinals.js";

/** What was added to one entity. */
export interface AddedObservations {
  /** The entity. */
  readonly entityName: string;
  /** The observations that it did not have before. */
  readonly addedObservations: readonly string[];
}

/** The nine operations of the reference MCP memory server, on the items of a space. */
export class KnowledgeGraph {
  readonly #items: GraphItems;

  /**
   * Requires a session handle without a session in its scope: a graph belongs to a whole space. Bound to a session it would show
   * only what was created there, and be forgotten with it.
   */
  constructor(session: GraphSession) {
    this.#items = new GraphItems(session);
  }

  /** Creates the entities whose names are new, and returns them. */
  async createEntities(entities: readonly Entity[]): Promise<readonly Entity[]> {
    const given = parseList(entities, "entities", parseEntity);
    const ordinals = new Ordinals();
    const added = await this.#items.add(given.map((entity) => entityDraft(entity, ordinals.next(entity.name))));
    return given.filter((_, at) => added.has(at));
  }

  /** Creates the relations that are new, and returns them. The entities need not exist. */
  async createRelations(relations: readonly Relation[]): Promise<readonly Relation[]> {
    const given = parseList(relations, "relations", parseRelation);
    const ordinals = new Ordinals();
    const ordinalOf = ({ from, relationType, to }: Relation) => ordinals.next(from, relationType, to);
    const added = await this.#items.add(given.map((relation) => relationDraft(relation, ordinalOf(relation))));
    return given.filter((_, at) => added.has(at));
  }

  /** Adds observations that an entity lacks. `not_found` if one of the entities does not exist. */
  async addObservations(observations: readonly NewObservations[]): Promise<readonly AddedObservations[]> {
    const given = parseList(observations, "observations", parseAddition);
    const found = await this.#named(given);
    for (const { entityName } of given) if (!found.has(entityName)) throw noEntity(entityName);
    const results = given.map(({ entityName }) => ({ entityName, addedObservations: [] as readonly string[] }));
    for (const [name, kept] of found) {
      const entity = await this.#items.edit(kept, (before) => {
        const all = [...before];
        for (const [at, { entityName, contents }] of given.entries()) {
          if (entityName !== name) continue;
          const addedObservations = contents.filter((content) => !all.includes(content));
          all.push(...addedObservations);
          results[at] = { entityName, addedObservations };
        }
        return all;
      });
      if (!entity) throw noEntity(name);
    }
    return results;
  }

  /** Deletes entities, and every relation that starts or ends at one of their names. */
  async deleteEntities(entityNames: readonly string[]): Promise<void> {
    const names = new Set(parseStrings(entityNames, "entityNames"));
    const [entities, relations, estranged] = await Promise.all([
      gathered(this.#items.entities(), ({ name }) => names.has(name)),
      gathered(this.#items.relations(), ({ from, to }) => names.has(from) || names.has(to)),
      this.#items.estranged("entity", [...names].map(entityId)),
    ]);
    await this.#items.delete([...[...entities, ...relations].map(({ item }) => item), ...estranged]);
  }

  /** Deletes observations; missing entities are ignored. */
  async deleteObservations(deletions: readonly OldObservations[]): Promise<void> {
    const given = parseList(deletions, "deletions", parseDeletion);
    for (const [name, kept] of await this.#named(given)) {
      const gone = new Set(given.flatMap((one) => (one.entityName === name ? one.observations : [])));
      await this.#items.edit(kept, (before) => before.filter((observation) => !gone.has(observation)));
    }
  }

  /** Deletes exactly these relations. Missing ones are ignored. */
  async deleteRelations(relations: readonly Relation[]): Promise<void> {
    const given = parseList(relations, "relations", parseRelation);
    const isGiven = (relation: Relation) => given.some((one) => isSameRelation(one, relation));
    const [found, estranged] = await Promise.all([
      gathered(this.#items.relations(), isGiven),
      this.#items.estranged("relation", given.map(relationId)),
    ]);
    await this.#items.delete([...found.map(({ item }) => item), ...estranged]);
  }

  /** The whole graph, read page by page: concurrent changes may or may not be included. */
  async readGraph(): Promise<Graph> {
    const [entities, relations] = await Promise.all([
      gathered(this.#items.entities()),
      gathered(this.#items.relations()),
    ]);
    return { entities: entities.map(({ value }) => value), relations: relations.map(({ value }) => value) };
  }

  /** The entities that contain the text, ignoring case, with their relations. */
  async searchNodes(query: string): Promise<Graph> {
    const text = parseString(query, "query");
    return around(await this.readGraph(), (entity) => mentions(entity, text));
  }

  /** The entities with these names, with their relations. */
  async openNodes(names: readonly string[]): Promise<Graph> {
    const wanted = new Set(parseStrings(names, "names"));
    return around(await this.readGraph(), ({ name }) => wanted.has(name));
  }

  /** The existing entities among those named, by name, in the given order. */
  async #named(given: readonly { readonly entityName: string }[]): Promise<ReadonlyMap<string, Kept<Entity>>> {
    const names = [...new Set(given.map(({ entityName }) => entityName))];
    const found = await this.#items.find(names.map(entityId));
    return new Map(names.flatMap((name) => ofName(name, found.get(entityId(name)))));
  }
}

const ofName = <T>(name: string, kept: T | undefined): readonly (readonly [string, T])[] =>
  kept === undefined ? [] : [[name, kept]];

async function gathered<T>(
  all: AsyncIterable<Kept<T>>,
  isWanted: (value: T) => boolean = () => true,
): Promise<readonly Kept<T>[]> {
  const wanted: Kept<T>[] = [];
  for await (const kept of all) if (isWanted(kept.value)) wanted.push(kept);
  return wanted;
}

/** In the reference server's wording, which models know; the name is the caller's own. */
const noEntity = (name: string): HoldfastError => new HoldfastError("not_found", `Entity with name ${name} not found`);
