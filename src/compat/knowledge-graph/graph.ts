/**
 * A knowledge graph as in the reference MCP memory server (@modelcontextprotocol/server-memory): entities with observations,
 * and relations between names. A relation may name a missing entity, and several entities may share a name.
 */

export interface Entity {
  /** The entity's name. */
  readonly name: string;
  /** What kind of thing it is, for instance "person". */
  readonly entityType: string;
  /** What is known about it, one statement each. */
  readonly observations: readonly string[];
}

/** A directed edge between two names. */
export interface Relation {
  /** The name of the entity where it starts. */
  readonly from: string;
  /** The name of the entity where it ends. */
  readonly to: string;
  /** What it says, in active voice: "works at". */
  readonly relationType: string;
}

/** Entities and relations, each in order of creation. */
export interface Graph {
  /** In order of creation. */
  readonly entities: readonly Entity[];
  /** In order of creation. */
  readonly relations: readonly Relation[];
}

/** The entities that match, and every relation that starts or ends at one of them. */
export function around(graph: Graph, isWanted: (entity: Entity) => boolean): Graph {
  const entities = graph.entities.filter(isWanted);
  const names = new Set(entities.map(({ name }) => name));
  return { entities, relations: graph.relations.filter(({ from, to }) => names.has(from) || names.has(to)) };
}

/** Whether the name, the type or an observation contains the text, ignoring case. */
export function mentions({ name, entityType, observations }: Entity, text: string): boolean {
  const wanted = text.toLowerCase();
  return [name, entityType, ...observations].some((part) => part.toLowerCase().includes(wanted));
}

export const isSameRelation = (one: Relation, other: Relation): boolean =>
  one.from === other.from && one.to === other.to && one.relationType === other.relationType;
