/**
 * The reference group beside the real package: the same calls have the same answers, to the letter; and its file comes in
 * and goes out as it was.
 */
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { exportGraphLines, importGraph, type MemoryHandle, openMemory, type Session, splitLines } from "holdfast";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as mcp from "../../build/lib/mcp/server.js";
import type { ToolContext } from "../../build/lib/mcp/tool.js";
import type * as reference from "../../build/lib/mcp/tools/reference.js";
import type * as renderedText from "../../build/lib/rendered.js";
import { root } from "../support/root.js";
import { anyCalls, type ToolCall } from "./reference-calls.js";
import { ReferenceServer, type ToolAnswer } from "./reference-server.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib/mcp", path)).href);
const { referenceGroup } = (await part("tools/reference.js")) as typeof reference;
const { mcpServerOf } = (await part("server.js")) as typeof mcp;
const { escapedJson, rendered } = (await part("../rendered.js")) as typeof renderedText;

const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
const file = join(folder, "memory.jsonl");
let theirs: ReferenceServer;
let memory: MemoryHandle & { close(): Promise<unknown> };
beforeAll(async () => {
  [theirs, memory] = await Promise.all([ReferenceServer.on(file), openMemory({ path: join(folder, "memory.db") })]);
});
afterAll(async () => {
  await Promise.all([theirs.close(), memory.close()]);
  rmSync(folder, { recursive: true, force: true });
});

let users = 0;
/** A memory of its own, in a conversation, as a client would have it. */
const newPlace = (on: MemoryHandle = memory, maxTokens = 1_000_000): ToolContext => ({
  session: on.session({ user: `user ${++users}`, agent: "tutor", session: "a conversation" }),
  memory: on,
  maxTokens,
  may: () => true,
  require: () => {},
});

const servers = new Map<ToolContext, Promise<ReferenceServer>>();
function serverOf(place: ToolContext): Promise<ReferenceServer> {
  const known = servers.get(place);
  if (known) return known;
  const parts = { groups: [referenceGroup], open: async () => place, may: () => true, subscribes: true };
  const made = ReferenceServer.to(mcpServerOf(parts));
  servers.set(place, made);
  return made;
}

const ours = async (place: ToolContext, { tool, args }: ToolCall): Promise<ToolAnswer> =>
  (await serverOf(place)).call(tool, args);

async function compare(calls: readonly ToolCall[], place: ToolContext): Promise<void> {
  rmSync(file, { force: true }); // it is read for every call: without it, the graph is empty
  for (const call of calls) {
    expect(await ours(place, call)).toEqual(withEscapes(await theirs.call(call.tool, call.args)));
  }
}

/** The same JSON, in which ours writes unseen characters as escapes; errors are no JSON, and do not show them. */
const withEscapes = ({ text, ...answer }: ToolAnswer): ToolAnswer => ({
  ...answer,
  text: answer.isError ? rendered(text) : escapedJson(text),
});

/** The session of the whole memory. */
const wholeOf = ({ session, memory: handle }: ToolContext): Session =>
  handle.session({ user: session.scope.user ?? "" });

async function linesOf(place: ToolContext): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportGraphLines(wholeOf(place))) lines.push(line);
  return lines;
}

const SEED: readonly ToolCall[] = [
  {
    tool: "create_entities",
    args: {
      entities: [
        { name: "Ada", entityType: "person", observations: ["flies", "flies", "likes 🍵\u2028"] },
        { name: "", entityType: "\u0000", observations: ["\ud800"] },
        { name: "Ada", entityType: "ship", observations: [] },
      ],
    },
  },
  {
    tool: "create_relations",
    args: {
      relations: [
        { from: "Ada", to: "nobody", relationType: "knows" },
        { from: "Ada", to: "nobody", relationType: "knows" },
      ],
    },
  },
  { tool: "add_observations", args: { observations: [{ entityName: "Ada", contents: ["late", "late", "flies"] }] } },
];

describe("beside the real package, the reference group", () => {
  it("has the same tools, with the same titles, annotations and schemas", async () => {
    const told = async ({ client }: ReferenceServer) =>
      (await client.listTools()).tools.map(({ name, title, annotations, inputSchema, outputSchema }) => ({
        ...{ name, title, annotations },
        inputSchema: shapeOf(inputSchema),
        outputSchema: shapeOf(outputSchema),
      }));
    expect(await told(await serverOf(newPlace()))).toEqual(await told(theirs));
  });

  it("answers any sequence of calls in the same way, word for word, errors too", async () => {
    const property = fc.asyncProperty(anyCalls, (calls) => compare(calls, newPlace()));
    await fc.assert(property, { numRuns: 25 });
  });

  it("does so through a server too, and gives the same resource", async () => {
    const server = await serve({ path: ":memory:", server: { port: 0, logLevel: "silent" } });
    const remote = connect(server.url);
    try {
      await fc.assert(
        fc.asyncProperty(anyCalls, (calls) => compare(calls, newPlace(remote))),
        { numRuns: 5 },
      );
      const place = newPlace(remote);
      await compare(SEED, place);
      expect(await (await serverOf(place)).resource()).toBe(escapedJson(await theirs.resource()));
    } finally {
      await remote.close();
      await server.stop();
    }
  });

  it("takes its file and gives it back byte for byte, and the real package reads what it gives", async () => {
    await compare(SEED, newPlace());
    const written = readFileSync(file, "utf8");
    const place = newPlace();
    const report = await importGraph(wholeOf(place), splitLines(createReadStream(file)));
    expect(report).toMatchObject({ lines: 5, entities: 3, relations: 2, skipped: 0 });
    expect((await linesOf(place)).join("\n")).toBe(written);
    await ours(place, {
      tool: "delete_observations",
      args: { deletions: [{ entityName: "Ada", observations: ["flies"] }] },
    });
    writeFileSync(file, `${(await linesOf(place)).join("\n")}\n`);
    const read = { tool: "read_graph", args: {} };
    expect(withEscapes(await theirs.call(read.tool, read.args))).toEqual(await ours(place, read));
  });
});

describe("a graph that is too large for an answer", () => {
  it("is refused with a way to ask for less; parts of it are given, and writes are answered", async () => {
    const place = newPlace(memory, 200);
    const long = "word ".repeat(1_000);
    const entities = Array.from({ length: 30 }, (_, at) => ({
      ...{ name: `e${at}`, entityType: "thing", observations: [`is number ${at}`, long] },
    }));
    const created = await ours(place, { tool: "create_entities", args: { entities } });
    expect(created.data).toEqual({ entities });
    const refused = await ours(place, { tool: "read_graph", args: {} });
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/The answer has 30 entities and 0 relations, about \d+ tokens; the limit is 25000/);
    expect(refused.text).toContain("open_nodes");
    expect(await ours(place, { tool: "search_nodes", args: { query: "NUMBER" } })).toMatchObject({ isError: true });
    expect((await ours(place, { tool: "search_nodes", args: { query: "NUMBER 7" } })).data).toMatchObject({
      entities: [{ name: "e7" }],
    });
    expect((await ours(place, { tool: "open_nodes", args: { names: ["e9", "e3"] } })).data).toMatchObject({
      entities: [{ name: "e3" }, { name: "e9" }],
    });
    const whole = await (await serverOf(place)).resource(); // a program reads it, and can ask for no less
    expect(JSON.parse(whole)).toEqual({ entities, relations: [] });
  });
});

/** A schema without its words, and without what makers of schemas differ in. */
function shapeOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shapeOf);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key]) => !["$schema", "description", "additionalProperties"].includes(key),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, shapeOf(value)]));
}
