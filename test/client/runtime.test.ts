/** The client runs without Node: no Node modules, no packages, no Node globals. */
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { serve } from "holdfast/server";
import { build } from "vite";
import { describe, expect, it } from "vitest";
import { chunksOf } from "../support/bundle.js";
import { root } from "../support/root.js";

const dist = join(root, "dist");
const ENTRY = join(dist, "client/index.js");

describe("the client's code", () => {
  const chunks = [...chunksOf("client/index.js")];
  const sources = chunks.flatMap(([, chunk]) => chunk.sources);

  it("is found completely", () => {
    const known = ["client/transport", "schemas/routes", "ids", "errors"].map((name) => `src/${name}.ts`);
    expect(sources).toEqual(expect.arrayContaining(known));
  });

  it("imports no Node module and contains no package", () => {
    expect(chunks.flatMap(([name, { foreign }]) => foreign.map((target) => `${name} → ${target}`))).toEqual([]);
    expect(sources.filter((source) => !source.startsWith("src/"))).toEqual([]);
  });

  it("includes no schemas and nothing of the stores", () => {
    const heavy = sources.filter((source) => /^src\/(schemas|stores|server|cli)\//.test(source));
    expect(heavy).toEqual(["src/schemas/routes.ts"]);
    const bytes = chunks.reduce((sum, [, { code }]) => sum + code.length, 0);
    expect(bytes).toBeLessThan(116_000);
  });

  it("uses no global that only Node has", () => {
    const node = /\b(?:Buffer|process|require|__dirname|__filename|setImmediate|global)\b\s*[.([]/;
    expect(chunks.filter(([, { code }]) => node.test(code)).map(([name]) => name)).toEqual([]);
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
