/**
 * The reference group: the nine tools of the reference MCP memory server on a Holdfast memory, with the same names, inputs,
 * outputs and texts. A model or client that knows one knows the other.
 *
 * - The graph belongs to the whole space; the scope's session is ignored.
 * - Reads return everything, as in the reference. Only beyond 25,000 tokens (or `maxTokens`, if larger) they are refused, with
 *   a hint. Writes are always answered: they repeat at most what the model just sent, and they have taken effect.
 * - The resource is returned in full, however long it is, as in the reference: programs read it, and cannot ask for less.
 * - Subscribers to the resource over stdio are notified of this client's writes with these tools only. Unlike blocks, the
 *   graph is not polled, because the whole graph would have to be read every second. So over HTTP there are no notifications.
 */
import { z } from "zod";
import type { Graph } from "../../compat/knowledge-graph/graph.js";
import { KnowledgeGraph } from "../../compat/knowledge-graph/knowledge-graph.js";
import { HoldfastError } from "../../errors.js";
import { escapedJson } from "../../rendered.js";
import { estimateTokens } from "../../tokens/estimate.js";
import { failureText } from "../failure.js";
import { type Answer, type ToolContext, type ToolGroup, tool } from "../tool.js";
import { wholeSpace } from "../whole-space.js";

const Entity = z.object({
  name: z.string().describe("The entity's name; other calls refer to it by this exact name"),
  entityType: z.string().describe("The type, such as person or project"),
  observations: z.array(z.string()).describe("Facts about it, one per string"),
});
const Relation = z.object({
  from: z.string().describe("Name of the entity where the relation starts"),
  to: z.string().describe("Name of the entity where it ends"),
  relationType: z.string().describe("The type, in active voice, such as works_at"),
});
const Entities = z.object({ entities: z.array(Entity) });
const Relations = z.object({ relations: z.array(Relation) });
const WholeGraph = z.object({ entities: z.array(Entity), relations: z.array(Relation) });
const Done = z.object({ success: z.boolean(), message: z.string() });

const createEntities = tool({
  name: "create_entities",
  title: "Create Entities",
  description:
    "Create entities in the knowledge graph. Returns the new ones: an existing entity is left unchanged (use add_observations for it).",
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
    "Create relations between entities. Use active voice for relation types (works_at, likes). Returns the new ones.",
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
    "Add facts to existing entities. Returns the new ones. Fails without adding anything if an entity does not exist: create it first.",
  access: "write",
  input: z.object({
    observations: z.array(
      z.object({
        entityName: z.string().describe("Name of the entity to add them to"),
        contents: z.array(z.string()).describe("Facts to add, one per string"),
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
  description: "Permanently delete entities with all their observations and relations.",
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
  description: "Delete single observations from entities. Pass their exact texts.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.object({
    deletions: z.array(
      z.object({
        entityName: z.string().describe("Name of the entity that has them"),
        observations: z.array(z.string()).describe("The exact observations to delete"),
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
    "Read all entities and relations. A large graph is too much for one answer: use search_nodes or open_nodes.",
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
    "Find entities whose name, type or observations contain a text, ignoring case, with their relations. The text is matched as a whole: pass one word or a short phrase.",
  access: "read",
  isIdempotent: true,
  input: z.object({ query: z.string().describe("The text to find in names, types and observations") }),
  output: WholeGraph,
  run: async (place, { query }) => graphAnswer(place, await graphOf(place).searchNodes(query)),
});

const openNodes = tool({
  name: "open_nodes",
  title: "Open Nodes",
  description: "Read entities by name, with their relations. Names that do not exist are omitted.",
  access: "read",
  isIdempotent: true,
  input: z.object({ names: z.array(z.string()).describe("Exact names of the entities to read") }),
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
  // A missing entity is reported in the reference's own words, which models have seen before.
  failureText: (error) =>
    error instanceof HoldfastError && error.code === "not_found" ? error.message : failureText(error),
};

const graphOf = (place: ToolContext): KnowledgeGraph => new KnowledgeGraph(wholeSpace(place));

/** Users who migrate have a graph that fits one answer. Clients refuse longer ones. */
const GRAPH_TOKENS = 25_000;

const textOf = (value: unknown): string => escapedJson(JSON.stringify(value, null, 2));

const done = (message: string) => ({ data: { success: true, message }, text: message });

/** The text is longer than the structured content, so only the text is measured. */
function graphAnswer(place: ToolContext, graph: Graph): Answer<Graph> {
  const maxTokens = Math.max(place.maxTokens, GRAPH_TOKENS);
  const text = textOf(graph);
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return { data: graph, text };
  const { entities, relations } = graph;
  const size = `${entities.length} entities and ${relations.length} relations, about ${tokens} tokens`;
  throw new HoldfastError("too_large", `the answer has ${size}; the limit is ${maxTokens}`, {
    hint: "request less: search_nodes with a rarer word, or open_nodes with fewer names; memory_search finds single facts in long entities",
    details: { entities: entities.length, relations: relations.length, tokens, maxTokens },
  });
}
