/**
 * KnowledgeGraph: the nine operations of the reference MCP memory server on a Holdfast memory, in this process or behind a
 * server. They answer as the reference does, and differ from it where that loses something:
 *
 * - Any number of processes may write at once: nothing that one has written is undone by another.
 * - What is created in one call is written at once, up to 256 things or 1 MB. Observations of several entities are checked
 *   together and written one entity after the other; repeating a call that was cut off adds what is missing.
 * - An entity with all its observations is one item, and so at most 8 MiB (`too_large`).
 * - An item of the graph that somebody has edited with other means, and that can be read as none any more, is passed over:
 *   what is created under its name takes its place and keeps its text, as an observation; what is deleted takes it along.
 *
 * An entity is known by the first item of its name. One race is left: an entity that is deleted and created anew between
 * the reading and the writing of an edit has version 1 again, and if the edit was made from version 1 it is not noticed.
 */
import { HoldfastError } from "../errors.js";
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

export interface AddedObservations {
  readonly entityName: string;
  readonly addedObservations: readonly string[];
}

export class KnowledgeGraph {
  readonly #items: GraphItems;

  /**
   * Requires a session whose scope names no session: a graph belongs to a whole memory. Bound to a conversation it would
   * show only what was created there, and be forgotten with it.
   */
  constructor(session: GraphSession) {
    this.#items = new GraphItems(session);
  }

  /** Creates the entities whose names are new, and answers with them. */
  async createEntities(entities: readonly Entity[]): Promise<readonly Entity[]> {
    const given = parseList(entities, "entities", parseEntity);
    const ordinals = new Ordinals();
    const added = await this.#items.add(given.map((entity) => entityDraft(entity, ordinals.next(entity.name))));
    return given.filter((_, at) => added.has(at));
  }

  /** Creates the relations that are new, and answers with them. What they name need not exist. */
  async createRelations(relations: readonly Relation[]): Promise<readonly Relation[]> {
    const given = parseList(relations, "relations", parseRelation);
    const ordinals = new Ordinals();
    const ordinalOf = ({ from, relationType, to }: Relation) => ordinals.next(from, relationType, to);
    const added = await this.#items.add(given.map((relation) => relationDraft(relation, ordinalOf(relation))));
    return given.filter((_, at) => added.has(at));
  }

  /** Adds observations that an entity does not have yet. `not_found` if one of the entities does not exist. */
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

  /** Deletes entities, and every relation that begins or ends at one of their names. */
  async deleteEntities(entityNames: readonly string[]): Promise<void> {
    const names = new Set(parseStrings(entityNames, "entityNames"));
    const [entities, relations, estranged] = await Promise.all([
      gathered(this.#items.entities(), ({ name }) => names.has(name)),
      gathered(this.#items.relations(), ({ from, to }) => names.has(from) || names.has(to)),
      this.#items.estranged("entity", [...names].map(entityId)),
    ]);
    await this.#items.delete([...[...entities, ...relations].map(({ item }) => item), ...estranged]);
  }

  /** Takes observations away where they are; entities that do not exist are passed over. */
  async deleteObservations(deletions: readonly OldObservations[]): Promise<void> {
    const given = parseList(deletions, "deletions", parseDeletion);
    for (const [name, kept] of await this.#named(given)) {
      const gone = new Set(given.flatMap((one) => (one.entityName === name ? one.observations : [])));
      await this.#items.edit(kept, (before) => before.filter((observation) => !gone.has(observation)));
    }
  }

  async deleteRelations(relations: readonly Relation[]): Promise<void> {
    const given = parseList(relations, "relations", parseRelation);
    const isGiven = (relation: Relation) => given.some((one) => isSameRelation(one, relation));
    const [found, estranged] = await Promise.all([
      gathered(this.#items.relations(), isGiven),
      this.#items.estranged("relation", given.map(relationId)),
    ]);
    await this.#items.delete([...found.map(({ item }) => item), ...estranged]);
  }

  /** All of it, page by page: what others change meanwhile is in it as it was before or after. */
  async readGraph(): Promise<Graph> {
    const [entities, relations] = await Promise.all([
      gathered(this.#items.entities()),
      gathered(this.#items.relations()),
    ]);
    return { entities: entities.map(({ value }) => value), relations: relations.map(({ value }) => value) };
  }

  /** The entities in which the text stands, letter for letter in whatever case, with the relations at them. */
  async searchNodes(query: string): Promise<Graph> {
    const text = parseString(query, "query");
    return around(await this.readGraph(), (entity) => mentions(entity, text));
  }

  /** The entities of these names, with the relations at them. */
  async openNodes(names: readonly string[]): Promise<Graph> {
    const wanted = new Set(parseStrings(names, "names"));
    return around(await this.readGraph(), ({ name }) => wanted.has(name));
  }

  /** The entities that are named and exist, by name, in the order in which they are named. */
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

/** In the words of the reference server, which models know; the name is the caller's own. */
const noEntity = (name: string): HoldfastError => new HoldfastError("not_found", `Entity with name ${name} not found`);
