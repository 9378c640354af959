/** The examples of the API: valid by their schemas, and accepted by a server, as curl and as TypeScript. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as formats from "ajv-formats";
import { connect, type SpaceRef } from "holdfast/client";
import { beforeAll, describe, expect, it } from "vitest";
import type { IDS as Ids, EXPORT as Lines } from "../../build/lib/schemas/examples/values.js";
import type { OpenApi } from "../../build/lib/server/openapi.js";
import type { ALL_EXAMPLES as All } from "../../build/lib/server/operations.js";
import { checkedFetch } from "../support/checked-fetch.js";
import { root } from "../support/root.js";
import { type Listed, OPERATIONS } from "./parts.js";
import { newPath, start } from "./started.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);
const { IDS, EXPORT } = (await part("schemas/examples/values.js")) as {
  readonly IDS: typeof Ids;
  readonly EXPORT: typeof Lines;
};
const { ALL_EXAMPLES } = (await part("server/operations.js")) as { readonly ALL_EXAMPLES: typeof All };

const SERVER = "http://127.0.0.1:8000";
const ajv = new Ajv2020({ strict: false });
formats.default.default(ajv);
let api: OpenApi;
let inMemory: string;
let onFile: string;

beforeAll(async () => {
  const extractor = { name: "none", extract: async () => [] };
  ({ url: inMemory } = await start({ extractor }));
  ({ url: onFile } = await start({ path: newPath() }));
  api = (await (await fetch(`${inMemory}/openapi.json`)).json()) as OpenApi;
  ajv.addSchema(api, "api");
});

function described({ method, path }: Listed) {
  const at = ["paths", `/api/v1${path}`, method.toLowerCase()];
  const operation = api.paths[at[1] ?? ""]?.[at[2] ?? ""];
  if (!operation) throw new Error(`${method} ${path} is not described`);
  return { at, operation };
}

/** Holds a value against a schema of the document. */
function check(at: readonly string[], value: unknown): void {
  const pointer = at.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.compile({ $ref: `api#/${pointer}` });
  validate(value);
  expect(ajv.errorsText(validate.errors), pointer).toBe("No errors");
}

/** Things of the examples that are named, and those that get an id. */
const NAMES = /\b(ada|tutor|bakery|grace|planner)\b/g;
let worlds = 0;

/** Fills a memory with what the examples are about, under other names, and gives text with these. */
async function filled(listed: Listed) {
  const url = ["doctor", "backup"].includes(listed.name) ? onFile : inMemory;
  const world = ++worlds;
  const renamed = (text: string): string => text.replaceAll(NAMES, `$1${world}`);
  const own = { user: renamed("ada") };
  const memory = connect(url);
  const [user, agent] = [await memory.users.create(own.user), await memory.agents.create(renamed("tutor"))];
  const entry = await memory.sessions.create(own, "monday", agent.name);
  await memory.import(renamed(EXPORT).trimEnd().split("\n"));
  const session = memory.session({ ...own, session: "monday" });
  await session.addItems([{ id: IDS.knowledge, kind: "knowledge", content: "Lisbon is the capital of Portugal." }]);
  const { fact } = await session.facts.upsert({ category: "home", content: "Ada lives in Lisbon." });
  await session.blocks.create({ name: IDS.block, content: "Ada is a baker." });
  await session.blocks.edit(IDS.block, { append: "\nShe lives in Lisbon." });
  const turn = session.turn();
  turn.push({ op: "store_embedding", collection: "notes", pointId: IDS.point, vector: [0.8, 0.6], payload: {} });
  await session.commit(turn);
  const { key } = await memory.keys.create({ access: "write", spaces: [own] });
  await memory.teams.create(renamed("bakery"));
  const ids: readonly (readonly [string, string])[] = [
    [IDS.fact, fact.id],
    [IDS.key, key.id],
    [IDS.session, entry.id],
    [IDS.user, user.id],
    [IDS.agent, agent.id],
    [SERVER, url],
  ];
  const here = (text: string): string =>
    ids.reduce((now, [theirs, ours]) => now.replaceAll(theirs, ours), renamed(text));
  return { url, own, here };
}

/** The request that a curl line makes, as a shell reads it. */
function requestIn(source: string, lines: string): { readonly url: string; readonly init: RequestInit } {
  const script = `curl() { printf '%s\\0' "$@"; }\n${source}`;
  const args = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  const request: { url: string; method?: string; body?: string; headers: [string, string][] } = {
    url: "",
    headers: [],
  };
  while (args.length > 0) {
    const arg = args.shift() ?? "";
    if (arg === "-X") request.method = args.shift() ?? "";
    else if (arg === "-H") request.headers.push((args.shift() ?? "").split(": ") as [string, string]);
    else if (arg === "-d") request.body = args.shift() ?? "";
    else if (arg === "--data-binary") request.body = args.shift()?.startsWith("@") ? lines : "";
    else if (!arg.startsWith("-")) request.url = arg;
  }
  const { url, headers, body, method = body === undefined ? "GET" : "POST" } = request;
  return { url, init: { method, headers, ...(body !== undefined && { body }) } };
}

it("every operation has an example, and no other", () => {
  expect(Object.keys(ALL_EXAMPLES).sort()).toEqual(OPERATIONS.map(({ name }) => name).sort());
});

describe.each(OPERATIONS)("the example of $name", (listed: Listed) => {
  it("fits its schemas", () => {
    const { at, operation } = described(listed);
    for (const [index, { name, in: place, required, example }] of operation.parameters.entries()) {
      if (example !== undefined && place === "path")
        check([...at, "parameters", String(index), "schema"], typed(name, example));
      expect(example !== undefined || !required, `${name} is required`).toBe(true);
    }
    for (const [media, { example }] of Object.entries(operation.requestBody?.content ?? {})) {
      expect(example, "there is a body").toBeDefined();
      check([...at, "requestBody", "content", media, "schema"], example);
      if (listed.operation.body) expect(listed.operation.body.safeParse(example).error).toBeUndefined();
    }
    const status = String(listed.operation.status);
    for (const [media, { example }] of Object.entries(operation.responses[status]?.content ?? {})) {
      check([...at, "responses", status, "content", media, "schema"], example);
    }
  });

  it("is accepted by a server, as curl sends it", async () => {
    const { operation } = described(listed);
    const { here } = await filled(listed);
    const [curl] = operation["x-codeSamples"];
    const { url, init } = requestIn(here(curl?.source ?? ""), here(EXPORT));
    const ending = new AbortController();
    const response = await checkedFetch(url, { ...init, signal: ending.signal });
    const text = listed.name === "events" ? "" : await response.text();
    ending.abort();
    expect([response.status, text.slice(0, 500)]).toEqual([listed.operation.status, expect.anything()]);
  });

  const code = ALL_EXAMPLES[listed.name].call;
  if (code !== undefined)
    it("works in TypeScript", async () => {
      const { operation } = described(listed);
      const { url, own, here } = await filled(listed);
      const sample = operation["x-codeSamples"].find(({ lang }) => lang === "TypeScript");
      const [head, ...lines] = here(sample?.source ?? "").split("\n");
      expect(head).toBe('import { connect } from "holdfast/client";');
      const run = new Function("connect", "console", `return (async () => {${lines.join("\n")}})();`);
      const asked: string[] = [];
      const watched = (address: string) =>
        connect(address, {
          fetch: (target, init) => {
            asked.push(`${init.method} ${new URL(target).pathname}`);
            // It goes on by itself, until there is an event.
            if (listed.name === "events") setTimeout(() => void happen(url, own), 0);
            return fetch(target, init);
          },
        });
      await run(watched, { log: () => {} });
      const { method, path } = listed;
      const route = new RegExp(`^${method} /api/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      expect(
        asked.some((one) => route.test(one)),
        `${asked.join()} has ${method} ${path}`,
      ).toBe(true);
    });
});

/** Path parameters are text; the schemas of numbers accept it. */
const typed = (name: string, value: unknown): unknown => (name === "version" ? Number(value) : value);

async function happen(url: string, own: SpaceRef): Promise<void> {
  await connect(url)
    .session({ ...own, session: "monday" })
    .add([{ role: "user", content: "I like figs." }]);
}
