/** What reviewers found in the tools, called on a real memory: each finding has its test. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Memory, Scope } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as groups from "../../build/lib/mcp/groups.js";
import type { Tool, ToolContext } from "../../build/lib/mcp/tool.js";
import type * as estimating from "../../build/lib/tokens/estimate.js";
import { holdfast } from "../cli/cli.js";
import { root } from "../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);
// The tools are not public; the memory is of the same compile, so that they know its errors.
const { HoldfastError, openMemory } = (await part("index.js")) as typeof import("holdfast");
const { GROUPS } = (await part("mcp/groups.js")) as typeof groups;
const { estimateTokens } = (await part("tokens/estimate.js")) as typeof estimating;

let memory: Memory;
beforeAll(async () => {
  memory = await openMemory({ path: ":memory:", clock: new FakeClock(Date.now()) }); // no deadline passes
});
afterAll(() => memory.close());

let users = 0;
function newPlace(scope: Scope = {}, maxTokens = 4_000): ToolContext {
  const session = memory.session({ user: `user ${++users}`, session: "talk", ...scope });
  return { session, memory, maxTokens, may: () => true, require: () => {} };
}

function toolNamed(name: string): Tool {
  const found = GROUPS.flatMap(({ tools }) => tools).find((one) => one.name === name);
  if (!found) throw new Error(`there is no tool ${name}`);
  return found;
}

async function call<T>(
  place: ToolContext,
  name: string,
  args: object,
): Promise<{ readonly data: T; readonly text: string }> {
  const one = toolNamed(name);
  const { data, text } = await one.run(place, one.input.parse(args) as never);
  return { data: one.output.parse(data) as T, text };
}

interface Given {
  readonly prefix: string;
  readonly tail: string;
}

describe("memory_context", () => {
  const HOSTILE = {
    code: 'const x = a["b"] ?? { c: 1 };\n',
    quotes: '"\n',
    dashes: "-",
    CJK: "記憶は大切です。",
    Cherokee: "ᏣᎳᎩ ",
  };

  it.each(Object.entries(HOSTILE))(
    "is within the bound as text and as data, whatever is stored: %s",
    async (_, unit) => {
      for (const maxTokens of [500, 4_000]) {
        const place = newPlace({}, maxTokens);
        await place.session.blocks.create({ name: "b", content: unit.repeat(400) });
        for (let at = 0; at < 10; at++) {
          await place.session.addItems([{ kind: "knowledge", content: `gull ${at} ${unit.repeat(60 * (at + 1))}` }]);
        }
        const { data, text } = await call(place, "memory_context", { query: "gull", budgetTokens: 100_000 });
        expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens);
        expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(maxTokens);
      }
    },
  );

  it("says the same as text and as data: nothing counts as given that a client did not get", async () => {
    const place = newPlace();
    const items = Array.from({ length: 30 }, (_, at) => ({
      kind: "knowledge" as const,
      content: `gull number ${at}: "${"quoted ".repeat(30)}"`,
    }));
    await place.session.addItems(items);
    const seen = new Set<string>();
    for (let turn = 0; turn < 12; turn++) {
      const { data, text } = await call<Given>(place, "memory_context", { query: "gull number" });
      for (const [, number = ""] of data.tail.matchAll(/gull number (\d+):/g)) seen.add(number);
      for (const [, number = ""] of text.matchAll(/gull number (\d+):/g)) expect(seen).toContain(number);
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  it("names what did not fit, with ids that memory_get takes", async () => {
    const place = newPlace();
    for (let at = 0; at < 6; at++) {
      await place.session.blocks.create({ name: `topic${at}`, content: `rule ${at} `.repeat(150) });
    }
    const { ids } = await place.session.addItems([{ kind: "knowledge", content: `runbook ${"step ".repeat(9_000)}` }]);
    const { text } = await call(place, "memory_context", { query: "runbook" });
    expect(text).toMatch(/\[\d+ more blocks, which did not fit: memory_block view\]/);
    expect(text).toContain(ids[0]);
    const shown = [...text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)].map(([id]) => id);
    const { data } = await call<{ items: readonly object[] }>(place, "memory_get", { ids: shown });
    expect(data.items).toHaveLength(shown.length);
  });

  it("writes nothing for a caller who may only read, in this process or behind a server", async () => {
    const place = newPlace();
    await place.session.addItems([{ kind: "knowledge", content: "The gull flew." }]);
    const refusing = new Proxy(place.session, {
      get: (session, name) => {
        if (name !== "context" && name !== "windowReset") return Reflect.get(session, name);
        return async (options: { readonly dryRun?: boolean } = {}) => {
          if (name === "context" && options.dryRun) return session.context(options);
          throw new HoldfastError("forbidden", "this key does not allow write");
        };
      },
    });
    for (const may of [(access: string) => access === "read", () => true]) {
      const reader = { ...place, session: refusing, may };
      for (let turn = 0; turn < 2; turn++) {
        const { data } = await call<Given>(reader, "memory_context", { query: "gull", fresh: turn === 1 });
        expect(data.tail).toContain("The gull flew.");
      }
    }
  });
});

describe("memory_fact", () => {
  it("lists all facts, page by page, and cuts long ones", async () => {
    const place = newPlace();
    for (let at = 0; at < 130; at++) {
      await place.session.facts.upsert({
        category: "number",
        content: `fact ${at} ${at === 7 ? "long ".repeat(9_000) : ""}`,
      });
    }
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await call<{ facts: readonly { id: string }[]; next?: string }>(place, "memory_fact", {
        command: "list",
        ...(cursor !== undefined && { cursor }),
      });
      expect(estimateTokens(page.text)).toBeLessThanOrEqual(4_000);
      expect(estimateTokens(JSON.stringify(page.data))).toBeLessThanOrEqual(4_000);
      for (const { id } of page.data.facts) seen.add(id);
      cursor = page.data.next;
    } while (cursor !== undefined);
    expect(seen.size).toBe(130);
  });
});

describe("flush", () => {
  it("counts pending items in its own scope only", async () => {
    const [mine, others] = [newPlace(), newPlace()];
    await mine.session.add([{ role: "user", content: "mine" }]);
    await others.session.add([
      { role: "user", content: "another's" },
      { role: "user", content: "and another's" },
    ]);
    await memory
      .session({ user: others.session.scope.user ?? "", session: "second" })
      .add([{ role: "user", content: "x" }]);
    expect((await call<object>(mine, "memory_flush", {})).data).toEqual({ pending: 1, parked: 0 });
    expect((await call<object>(others, "memory_flush", {})).data).toEqual({ pending: 2, parked: 0 });
    expect(await memory.session({ user: others.session.scope.user ?? "" }).flush()).toEqual({ pending: 3, parked: 0 });
    expect((await memory.flush()).pending).toBeGreaterThanOrEqual(4);
  });
});

describe("answers for OpenAI", () => {
  it("are within the bound, with a long id, and a title full of quotes", async () => {
    const place = newPlace();
    const id = "識".repeat(100);
    await place.session.addItems([{ id, kind: "knowledge", content: `"gull" ${"word, ".repeat(9_000)}` }]);
    const { data, text } = await call(place, "fetch", { id });
    expect(estimateTokens(text)).toBeLessThanOrEqual(4_000);
    expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(4_000);
  });
});

describe("what a model does wrong", () => {
  it.each([
    ["memory_save", { content: "x", expiresAt: "2001-01-01" }, "in the past"],
    ["memory_search", { query: "x", from: "yesterday" }, "2026-05-01T09:30:00Z"],
    ["memory_block", { command: "str_replace", name: "b", old_str: "a", new_str: "c" }, "so that it occurs once"],
    ["memory_block", { command: "str_replace", name: "b", old_str: "", new_str: "c" }, ">=1 characters"],
  ])("is reported with a remedy: %s %j", async (name, args, words) => {
    const place = newPlace();
    await place.session.blocks.create({ name: "b", content: "a a" });
    const error: unknown = await call(place, name, args).catch((reason: unknown) => reason);
    const { message, hint = "" } = error as Error & { readonly hint?: string };
    expect(`${message} ${hint}`).toContain(words);
    expect(`${message} ${hint}`).not.toContain("all: true");
  });

  it("asks within a session where there is none", async () => {
    const session = memory.session({ user: "nobody" });
    const place = { ...newPlace(), session };
    await expect(call(place, "memory_search", { query: "x", within: "session" })).rejects.toMatchObject({
      hint: "omit `within`",
    });
  });
});

describe("a name with signs that turn text", () => {
  it("is shown so that it can be asked for, on one line that reads as it stands", async () => {
    const place = newPlace();
    const name = "two  spaces \u202e\u2028x";
    await place.session.blocks.create({ name, content: "text" });
    const { text } = await call(place, "memory_block", { command: "view" });
    const [, shown = ""] = /^\[("(?:[^"\\]|\\.)*") v1/m.exec(text) ?? [];
    expect(JSON.parse(shown)).toBe(name);
    expect(shown).not.toMatch(/[\u202e\u2028]/);
  });
});

describe("holdfast mcp", () => {
  it.each([
    ["an empty name", ["--user", ""]],
    ["a space that is not named", ["--space", "team"]],
    ["what is no address", ["--url", "notaurl"]],
  ])("does not start with %s", async (_, flags) => {
    const { code, out, err } = await holdfast(["mcp", ...flags], { stdin: "" });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("holdfast: ");
  });
});
