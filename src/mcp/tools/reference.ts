/**
 * The reference group: the nine tools of the reference MCP memory server, under their names, with their inputs, outputs and
 * texts, on a Holdfast memory. A model and a client that know the one know the other.
 *
 * - The graph is that of the whole memory: the session's name, if there is one, plays no part.
 * - Reads are answered whole, as there; only beyond 25,000 tokens (or `maxTokens`, if that is more) they are refused, with
 *   a way to ask for less. Writes are always answered: they repeat at most what the model has just said, and they are done.
 * - The resource is given whole, however long it is, as there: programs read it, and nobody can ask for less of it.
 * - Who subscribes to the resource over stdio is told of what this client writes with these tools. What else happens to it
 *   is not looked for, as it is with blocks: the whole graph would have to be read every second. So over HTTP nobody is told.
 */
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import type { Graph } from "../../graph/graph.js";
import { KnowledgeGraph } from "../../graph/knowledge-graph.js";
import { estimateTokens } from "../../tokens/estimate.js";
import { failureText } from "../failure.js";
import { type Answer, type ToolGroup, tool, type Workplace } from "../tool.js";
import { wholeSpace } from "../whole-space.js";

const Entity = z.object({
  name: z.string().describe("What the entity is called; other calls name it exactly so"),
  entityType: z.string().describe("What kind of thing it is, such as person or project"),
  observations: z.array(z.string()).describe("What is known about it, one fact each"),
});
const Relation = z.object({
  from: z.string().describe("Name of the entity that the relation begins at"),
  to: z.string().describe("Name of the entity that it ends at"),
  relationType: z.string().describe("What the first is or does to the second, such as works_at"),
});
const Entities = z.object({ entities: z.array(Entity) });
const Relations = z.object({ relations: z.array(Relation) });
const WholeGraph = z.object({ entities: z.array(Entity), relations: z.array(Relation) });
const Done = z.object({ success: z.boolean(), message: z.string() });

const createEntities = tool({
  name: "create_entities",
  title: "Create Entities",
  description:
    "Create entities in the knowledge graph. Answers with those that are new: a name that exists is left as it is (use add_observations for it).",
  access: "write",
  input: Entities,
  output: Entities,
  run: async (place, { entities }) => {
    const created = await graphOf(place).createEntities(entities);
    return { data: { entities: created }, text: textOf(created) };
  },
});

const createRelations = tool({
  name: "create_relations",
  title: "Create Relations",
  description:
    "Connect entities of the knowledge graph. Word relation types actively (works_at, likes). Answers with those that are new.",
  access: "write",
  input: Relations,
  output: Relations,
  run: async (place, { relations }) => {
    const created = await graphOf(place).createRelations(relations);
    return { data: { relations: created }, text: textOf(created) };
  },
});

const addObservations = tool({
  name: "add_observations",
  title: "Add Observations",
  description:
    "Add facts to entities that exist. Answers with those that were new. Fails, with nothing added, if an entity does not exist: create it first.",
  access: "write",
  input: z.object({
    observations: z.array(
      z.object({
        entityName: z.string().describe("Name of the entity that gets them"),
        contents: z.array(z.string()).describe("What to add, one fact each"),
      }),
    ),
  }),
  output: z.object({
    results: z.array(z.object({ entityName: z.string(), addedObservations: z.array(z.string()) })),
  }),
  run: async (place, { observations }) => {
    const results = await graphOf(place).addObservations(observations);
    return { data: { results }, text: textOf(results) };
  },
});

const deleteEntities = tool({
  name: "delete_entities",
  title: "Delete Entities",
  description: "Delete entities with all their observations and relations, for good.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.object({ entityNames: z.array(z.string()).describe("Names of the entities to delete") }),
  output: Done,
  run: async (place, { entityNames }) => {
    await graphOf(place).deleteEntities(entityNames);
    return done("Entities deleted successfully");
  },
});

const deleteObservations = tool({
  name: "delete_observations",
  title: "Delete Observations",
  description: "Take single observations away from entities. Give their texts exactly.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.object({
    deletions: z.array(
      z.object({
        entityName: z.string().describe("Name of the entity that has them"),
        observations: z.array(z.string()).describe("The observations to take away, word for word"),
      }),
    ),
  }),
  output: Done,
  run: async (place, { deletions }) => {
    await graphOf(place).deleteObservations(deletions);
    return done("Observations deleted successfully");
  },
});

const deleteRelations = tool({
  name: "delete_relations",
  title: "Delete Relations",
  description: "Delete relations between entities; the entities stay.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.object({ relations: z.array(Relation).describe("The relations to delete, exactly as they are") }),
  output: Done,
  run: async (place, { relations }) => {
    await graphOf(place).deleteRelations(relations);
    return done("Relations deleted successfully");
  },
});

const readGraph = tool({
  name: "read_graph",
  title: "Read Graph",
  description:
    "Read all entities and relations. Of a large graph it is too much for one answer: use search_nodes or open_nodes.",
  access: "read",
  isIdempotent: true,
  input: z.object({}),
  output: WholeGraph,
  run: async (place) => graphAnswer(place, await graphOf(place).readGraph()),
});

const searchNodes = tool({
  name: "search_nodes",
  title: "Search Nodes",
  description:
    "Find entities in whose name, type or observations a text stands, upper or lower case, with their relations. It looks for the text as a whole: give one word or a short phrase.",
  access: "read",
  isIdempotent: true,
  input: z.object({ query: z.string().describe("The text to look for in names, types and observations") }),
  output: WholeGraph,
  run: async (place, { query }) => graphAnswer(place, await graphOf(place).searchNodes(query)),
});

const openNodes = tool({
  name: "open_nodes",
  title: "Open Nodes",
  description: "Read the entities of these names with their relations. Names that do not exist are left out.",
  access: "read",
  isIdempotent: true,
  input: z.object({ names: z.array(z.string()).describe("Names of the entities to read, exactly") }),
  output: WholeGraph,
  run: async (place, { names }) => graphAnswer(place, await graphOf(place).openNodes(names)),
});

export const referenceGroup: ToolGroup = {
  name: "reference",
  tools: [
    createEntities,
    createRelations,
    addObservations,
    deleteEntities,
    deleteObservations,
    deleteRelations,
    readGraph,
    searchNodes,
    openNodes,
  ],
  resources: [
    {
      uri: "memory://knowledge-graph",
      name: "knowledge-graph",
      title: "Knowledge Graph",
      description: "All entities and relations, as JSON.",
      mimeType: "application/json",
      read: async (place) => textOf(await graphOf(place).readGraph()),
    },
  ],
  // What is not there is told in the reference's own words, which models have seen before.
  failureText: (error) =>
    error instanceof HoldfastError && error.code === "not_found" ? error.message : failureText(error),
};

const graphOf = (place: Workplace): KnowledgeGraph => new KnowledgeGraph(wholeSpace(place));

/** Whoever changes over has a graph that was read whole until now. Clients refuse what is longer. */
const GRAPH_TOKENS = 25_000;

const textOf = (value: unknown): string => JSON.stringify(value, null, 2);

const done = (message: string) => ({ data: { success: true, message }, text: message });

/** The text is longer than the structured content, so that it alone is measured. */
function graphAnswer(place: Workplace, graph: Graph): Answer<Graph> {
  const maxTokens = Math.max(place.maxTokens, GRAPH_TOKENS);
  const text = textOf(graph);
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return { data: graph, text };
  const { entities, relations } = graph;
  const size = `${entities.length} entities and ${relations.length} relations, about ${tokens} tokens`;
  throw new HoldfastError("too_large", `the answer has ${size}; at most ${maxTokens} fit`, {
    hint: "ask for less: search_nodes with a rarer word, or open_nodes with fewer names; memory_search finds single facts in what is too long",
    details: { entities: entities.length, relations: relations.length, tokens, maxTokens },
  });
}
