/** The client runs without Node: no Node modules, no packages, no Node globals. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createContext, runInContext } from "node:vm";
import { serve } from "holdfast/server";
import { build } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const dist = join(root, "dist");
const ENTRY = join(dist, "client/index.js");

const IMPORT = /^\s*(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|^\s*import "([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
const importsOf = (code: string): readonly string[] =>
  [...code.matchAll(IMPORT)].map(([, from, bare, late]) => from ?? bare ?? late ?? "");

/** Comments may mention what the code must not use. */
const withoutComments = (code: string): string => code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

/** Every file that the client loads, with its code. */
function graph(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const waiting = [ENTRY];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    const code = withoutComments(readFileSync(path, "utf8"));
    files.set(path, code);
    for (const target of importsOf(code)) if (target.startsWith(".")) waiting.push(join(dirname(path), target));
  }
  return files;
}

describe("the client's code", () => {
  const files = graph();
  const named = [...files].map(([path, code]) => [relative(dist, path), code] as const);

  it("is found completely", () => {
    const names = named.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(["client/transport.js", "schemas/routes.js", "ids.js", "errors.js"]));
    for (const path of files.keys()) expect(existsSync(path), path).toBe(true);
  });

  it("imports no Node module and no package", () => {
    const foreign = named.flatMap(([name, code]) =>
      importsOf(code)
        .filter((target) => !target.startsWith("."))
        .map((target) => `${name} → ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  it("includes no schemas and nothing of the stores", () => {
    const heavy = named.map(([name]) => name).filter((name) => /^(schemas|stores|server|cli)\//.test(name));
    expect(heavy).toEqual(["schemas/routes.js"]);
    const bytes = [...files.values()].reduce((sum, code) => sum + code.length, 0);
    expect(bytes).toBeLessThan(116_000);
  });

  it("uses no global that only Node has", () => {
    const node = /\b(?:Buffer|process|require|__dirname|__filename|setImmediate|global)\b\s*[.([]/;
    expect(named.filter(([, code]) => node.test(code)).map(([name]) => name)).toEqual([]);
  });
});

/** One script, as a page would load it. */
async function bundle(): Promise<string> {
  const lib = { entry: ENTRY, formats: ["iife" as const], name: "client" };
  const made = await build({ configFile: false, logLevel: "silent", root: dist, build: { write: false, lib } });
  const [{ output } = { output: [] }] = made as unknown as { readonly output: readonly { readonly code: string }[] }[];
  return output[0]?.code ?? "";
}

/** The globals of every browser, worker and edge runtime, and nothing else. Timers are numbers there. */
const WEB = {
  fetch,
  URL,
  URLSearchParams,
  Headers,
  Request,
  Response,
  Blob,
  AbortController,
  AbortSignal,
  TextEncoder,
  TextDecoder,
  ReadableStream,
  crypto,
  performance,
  setTimeout: (task: () => void, ms: number) => Number(setTimeout(task, ms)),
  clearTimeout: (timer: number) => clearTimeout(timer),
};

/** Runs in the bare context, like the code of a page. */
const PAGE = `(async () => {
  const memory = client.connect(url);
  const session = memory.session({ user: "ada", session: "page" });
  await session.add([{ id: "m1", role: "user", content: "I moved to Lisbon", occurredAt: new Date(5), metadata: { a: [1] } }]);
  const turn = session.turn();
  turn.push({ op: "save_message", message: { role: "assistant", content: "Lisbon is loud" } });
  const { ids } = await session.commit(turn);
  const conversation = await session.conversation();
  await conversation.recordTurn("user", "Indeed 🦫");
  const hits = await session.query("Lisbon", { to: new Date(6) });
  const { code } = await session.update("none", { content: "x" }).catch((error) => error);
  const events = memory.events({ scope: { user: "ada" } });
  const next = events.next();
  let isTold = false;
  next.then(() => (isTold = true));
  while (!isTold) await session.add([{ role: "user", content: "again" }]);
  const { value: event } = await next;
  await events.return();
  const lines = [];
  for await (const line of memory.export({ scope: { user: "ada" } })) lines.push(JSON.parse(line).type);
  await memory.import(['{"role":"user","content":"imported"}'], { scope: { user: "bob", session: "s" } });
  const bob = (await memory.session({ user: "bob" }).list()).items.map((item) => item.content);
  const refused = await client.connect("http://127.0.0.1:1", { retries: 1 }).stats().catch((error) => error.code);
  await memory.close();
  return JSON.stringify({
    ids, code, bob, refused, turns: conversation.length, event: event.type, last: lines.at(-1),
    hits: hits.map(({ id, occurredAt }) => [id, occurredAt]), frozen: Object.isFrozen(hits[0]),
  });
})()`;

describe("the client's bundle", () => {
  it("does everything in a context with web globals only", async () => {
    const server = await serve({ path: ":memory:", server: { port: 0, logLevel: "silent" } });
    try {
      const code = await bundle();
      expect(code.length).toBeLessThan(52_000); // no schemas
      const page = createContext({ ...WEB, url: server.url });
      expect(runInContext("typeof Buffer + typeof process + typeof require", page)).toBe("undefined".repeat(3));
      runInContext(`${code};globalThis.client = client`, page);
      const found: unknown = JSON.parse(await (runInContext(PAGE, page) as Promise<string>));
      expect(found).toEqual({
        ids: [expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)],
        code: "not_found",
        bob: ["imported"],
        refused: "unreachable",
        turns: 3,
        event: expect.stringMatching(/added|changed/),
        last: "end",
        hits: [["m1", 5]],
        frozen: true,
      });
    } finally {
      await server.stop();
    }
  });
});
