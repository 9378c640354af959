/**
 * What every flag changes, by command: each case shows an answer that differs without the flag. Cases run through a
 * server, each for its own user. (Flags that need a file are in file-flags.test.ts.)
 */
import { expect } from "vitest";
import { holdfast, jsonOf, type Ran, type Setting } from "./cli.js";

export class As {
  readonly user: string;
  readonly #url: string;

  constructor(user: string, url: string) {
    this.user = user;
    this.#url = url;
  }

  run(argv: readonly string[], setting?: Setting): Promise<Ran> {
    return holdfast([...argv, "--user", this.user, "--url", this.#url], setting);
  }

  /** Without its own scope. */
  anyone(argv: readonly string[], setting?: Setting): Promise<Ran> {
    return holdfast([...argv, "--url", this.#url], setting);
  }

  async json<T = object>(...argv: readonly string[]): Promise<T> {
    return jsonOf<T>(await this.run([...argv, "--json"]));
  }

  /** The newest item. */
  async newest(): Promise<object> {
    return this.json("tail", "--no-follow", "-n", "1");
  }

  async found(...argv: readonly string[]): Promise<readonly string[]> {
    const { hits } = await this.json<{ hits: readonly { readonly content: string }[] }>("query", ...argv);
    return hits.map(({ content }) => content);
  }

  async facts(...argv: readonly string[]): Promise<readonly string[]> {
    const { items, facts } = await this.json<{ items?: readonly Named[]; facts?: readonly Named[] }>("facts", ...argv);
    return (items ?? facts ?? []).map(({ content }) => content);
  }

  async fact(...argv: readonly string[]): Promise<string> {
    return (await this.json<{ readonly fact: { readonly id: string } }>("facts", "add", ...argv)).fact.id;
  }

  async block(text: string, ...flags: readonly string[]): Promise<void> {
    await this.json("blocks", "create", "b", text, ...flags);
  }

  /** The block's text after an edit. */
  async edited(...argv: readonly string[]): Promise<string> {
    return (await this.json<{ readonly content: string }>("blocks", "edit", "b", ...argv)).content;
  }

  /** The last entry of the block's log. */
  async lastEdit(name = "b"): Promise<object> {
    return (await this.json<readonly object[]>("blocks", "history", name))[0] ?? {};
  }
}

interface Named {
  readonly content: string;
}

type Case = (as: As) => Promise<void>;
export const FLAG_CASES: { readonly [flag: string]: Case } = {
  "add --role": async (as) => {
    await as.json("add", "x", "--role", "assistant");
    expect(await as.newest()).toMatchObject({ role: "assistant" });
  },
  "add --name": async (as) => {
    await as.json("add", "x", "--name", "Grace");
    expect(await as.newest()).toMatchObject({ name: "Grace" });
  },
  "add --at": async (as) => {
    await as.json("add", "x", "--at", "2026-05-01T10:00:00Z");
    expect(await as.newest()).toMatchObject({ occurredAt: Date.UTC(2026, 4, 1, 10) });
  },
  "add --expires": async (as) => {
    await as.json("add", "x", "--expires", "30d");
    const { expiresAt = 0 } = (await as.newest()) as { readonly expiresAt?: number };
    expect(Math.abs(expiresAt - Date.now() - 30 * 86_400_000)).toBeLessThan(600_000);
  },
  "add --metadata": async (as) => {
    await as.json("add", "x", "--metadata", '{"topic":"travel"}');
    expect(await as.newest()).toMatchObject({ metadata: { topic: "travel" } });
  },
  "add --id": async (as) => {
    expect(await as.json("add", "x", "--id", "mine")).toMatchObject({ ids: ["mine"] });
  },
  "add --knowledge": async (as) => {
    await as.json("add", "x", "--knowledge");
    expect(await as.newest()).toMatchObject({ kind: "knowledge" });
  },
  "add --jsonl": async (as) => {
    const stdin = '{"role":"user","content":"one"}\n{"role":"tool","content":"two"}\n';
    expect(jsonOf<{ ids: string[] }>(await as.run(["add", "--jsonl", "--json"], { stdin })).ids).toHaveLength(2);
    expect(await as.newest()).toMatchObject({ role: "tool", content: "two" });
  },
  "add --idempotency-key": async (as) => {
    const first = await as.json("add", "x", "--idempotency-key", "k");
    expect(await as.json("add", "x", "--idempotency-key", "k")).toEqual({ ...first, repeated: true });
    const ran = await as.run(["add", "x", "--idempotency-key", "k"]);
    expect(ran.err).toContain("already there: 1 message");
  },

  "query --limit": async (as) => {
    for (const text of ["tea one", "tea two", "tea three"]) await as.json("add", text);
    expect(await as.found("tea", "--limit", "2")).toHaveLength(2);
    expect(await as.found("tea")).toHaveLength(3);
  },
  "query --within": async (as) => {
    await as.json("add", "tea here", "--session", "one");
    await as.json("add", "tea there", "--session", "two");
    expect(await as.found("tea", "--session", "one", "--within", "session")).toEqual(["tea here"]);
  },
  "query --role": async (as) => {
    await as.json("add", "tea mine");
    await as.json("add", "tea yours", "--role", "assistant");
    expect(await as.found("tea", "--role", "assistant")).toEqual(["tea yours"]);
  },
  "query --kind": async (as) => {
    await as.json("add", "tea said");
    await as.json("add", "tea known", "--knowledge");
    expect(await as.found("tea", "--kind", "knowledge")).toEqual(["tea known"]);
  },
  "query --from": async (as) => {
    await as.json("add", "tea old", "--at", "2020-01-01");
    await as.json("add", "tea new");
    expect(await as.found("tea", "--from", "7d")).toEqual(["tea new"]);
  },
  "query --to": async (as) => {
    await as.json("add", "tea old", "--at", "2020-01-01");
    await as.json("add", "tea new");
    expect(await as.found("tea", "--to", "2021-01-01")).toEqual(["tea old"]);
  },
  "query --metadata": async (as) => {
    await as.json("add", "tea green", "--metadata", '{"topic":"drinks","rank":1,"origin":{"country":"jp"}}');
    await as.json("add", "tea black", "--metadata", '{"topic":"drinks","rank":2,"origin":{"country":"in"}}');
    await as.json("add", "tea rooms");
    expect(await as.found("tea", "--metadata", "rank=2")).toEqual(["tea black"]);
    expect(await as.found("tea", "--metadata", "topic=drinks", "--metadata", "origin.country=jp")).toEqual([
      "tea green",
    ]);
    expect(await as.found("tea", "--metadata", "rank=1", "--metadata", "rank=2")).toHaveLength(2);
  },
  "query --recency": async (as) => {
    await as.json("add", "tea tea tea", "--at", "2020-01-01");
    await as.json("add", "a cup of tea in the evening");
    expect((await as.found("tea"))[0]).toBe("tea tea tea");
    expect((await as.found("tea", "--recency", "1"))[0]).toBe("a cup of tea in the evening");
  },
  "query --sort": async (as) => {
    await as.json("add", "tea tea tea", "--at", "2020-01-01");
    await as.json("add", "a cup of tea in the evening");
    expect((await as.found("tea", "--sort", "timestamp"))[0]).toBe("a cup of tea in the evening");
  },
  "query --explain": async (as) => {
    await as.json("add", "tea");
    expect(await as.json("query", "tea", "--explain")).toMatchObject({
      hits: [{ why: { words: {} } }],
      explanation: {},
    });
    expect((await as.run(["query", "tea", "--explain"])).out).toContain("(BM25");
  },
  "query --full": async (as) => {
    const text = `tea ${"and more of it ".repeat(20)}end`;
    await as.json("add", text);
    const terminal = { columns: 60, env: { NO_COLOR: "1" } };
    expect((await as.run(["query", "tea"], terminal)).out).not.toContain("end");
    expect((await as.run(["query", "tea", "--full"], terminal)).out.replaceAll("\n", " ")).toContain(text);
  },

  "context --budget": async (as) => {
    await as.json("add", `tea ${"is a long story ".repeat(40)}`);
    expect(await as.json("context", "tea", "--budget", "60")).toMatchObject({ tokens: { budget: 60 } });
    expect(await as.json("context", "tea")).toMatchObject({ tokens: { budget: 2000 } });
  },
  "context --counter": async (as) => {
    await as.json("add", "tea: 午後の紅茶は長い物語です、やかんとカップの話です");
    const total = async (...flags: string[]): Promise<number> =>
      (await as.json<{ tokens: { total: number } }>("context", "tea", ...flags)).tokens.total;
    expect(await total("--counter", "chars4")).not.toBe(await total());
  },
  "context --turns": async (as) => {
    for (const text of ["one", "two"]) await as.json("add", text, "--session", "s");
    const tail = async (...flags: string[]): Promise<string> =>
      (await as.json<{ tail: string }>("context", "--session", "s", "--fresh", ...flags)).tail;
    expect(await tail("--turns", "1")).not.toContain("User: one");
    expect(await tail()).toContain("User: one");
  },
  "context --limit": async (as) => {
    for (const text of ["tea one", "tea two", "tea three"]) await as.json("add", text);
    expect((await as.json<{ added: object[] }>("context", "tea", "--limit", "1")).added).toHaveLength(1);
  },
  "context --as-of": async (as) => {
    const porto = await as.fact("home", "lives in Porto", "--since", "2020-01-01");
    await as.json("facts", "end", porto, "--at", "2021-01-01");
    expect(await as.json("context", "Porto", "--as-of", "2020-06-01")).toMatchObject({
      tail: expect.stringContaining("lives in Porto"),
    });
    expect(await as.json("context", "Porto")).toMatchObject({ tail: "" });
  },
  "context --format": async (as) => {
    await as.block("Ada is a baker.");
    const prefix = expect.stringContaining("Ada is a baker.");
    expect(jsonOf(await as.run(["context", "--format", "openai"]))).toEqual([{ role: "system", content: prefix }]);
    expect(await as.json("context", "--format", "anthropic")).toMatchObject({
      anthropic: { system: [{ text: prefix }] },
    });
  },
  "context --fresh": async (as) => {
    await as.json("add", "tea with milk", "--session", "other");
    const added = async (...flags: string[]): Promise<number> =>
      (await as.json<{ added: object[] }>("context", "tea", "--session", "s", ...flags)).added.length;
    expect([await added(), await added(), await added("--fresh")]).toEqual([1, 0, 1]);
  },
  "context --dry-run": async (as) => {
    await as.json("add", "tea with milk", "--session", "other");
    const added = async (...flags: string[]): Promise<number> =>
      (await as.json<{ added: object[] }>("context", "tea", "--session", "s", ...flags)).added.length;
    expect([await added("--dry-run"), await added(), await added()]).toEqual([1, 1, 0]);
  },

  "tail --limit": async (as) => {
    for (const text of ["one", "two", "three"]) await as.json("add", text);
    const { out } = await as.run(["tail", "--no-follow", "--limit", "2"]);
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => line.split("\t").at(-1)),
    ).toEqual(["CONTENT", "two", "three"]);
  },
  "tail --metadata": async (as) => {
    await as.json("add", "one", "--metadata", '{"topic":"travel"}');
    await as.json("add", "two");
    const { out } = await as.run(["tail", "--no-follow", "--metadata", "topic=travel", "--json"]);
    expect(out.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({ content: "one" });
  },
  "tail --full": async (as) => {
    await as.json("add", `${"word ".repeat(50)}end`);
    const terminal = { columns: 60, env: { NO_COLOR: "1" } };
    expect((await as.run(["tail", "--no-follow"], terminal)).out).not.toContain("end");
    expect((await as.run(["tail", "--no-follow", "--full"], terminal)).out).toContain("word end");
  },

  "edit --expect-version": async (as) => {
    const { ids } = await as.json<{ ids: readonly [string] }>("add", "tea");
    expect(await as.json("edit", ids[0], "coffee", "--expect-version", "1")).toEqual({ id: ids[0], version: 2 });
    expect(await as.run(["edit", ids[0], "milk", "--expect-version", "1"])).toMatchObject({ code: 1, out: "" });
    expect(await as.newest()).toMatchObject({ content: "coffee" });
  },
  "edit --idempotency-key": async (as) => {
    const { ids } = await as.json<{ ids: readonly [string] }>("add", "tea");
    for (let time = 0; time < 2; time++) {
      expect(await as.json("edit", ids[0], "coffee", "--idempotency-key", "k")).toMatchObject({ version: 2 });
    }
  },
  "retain --yes": async (as) => {
    await as.json("add", "tea");
    const asked = await as.run(["retain", "30d"]);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("30 days after it was recorded") });
    expect(await as.json("retain")).not.toHaveProperty("retentionMs");
    expect(await as.json("retain", "30d", "--yes")).toMatchObject({ retentionMs: 30 * 86_400_000 });
    expect((await as.run(["retain"])).out).toBe(`items of user ${as.user} are kept for 30 days\n`);
    expect(await as.json("retain", "forever")).not.toHaveProperty("retentionMs");
  },
  "retain --idempotency-key": async (as) => {
    await as.json("add", "tea");
    await as.json("retain", "30d", "--yes", "--idempotency-key", "k");
    await as.json("retain", "forever");
    await as.json("retain", "30d", "--yes", "--idempotency-key", "k"); // a retry writes nothing
    expect(await as.json("retain")).not.toHaveProperty("retentionMs");
  },

  "forget --yes": async (as) => {
    await as.json("add", "tea", "--session", "s");
    const asked = await as.run(["forget", "--session", "s"]);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("not confirmed: forget everything in user") });
    expect(await as.found("tea")).toEqual(["tea"]);
    expect(await as.json("forget", "--session", "s", "--yes")).toMatchObject({ items: 1, sessions: 1 });
    expect(await as.run(["forget", "--session", "s", "--yes"])).toMatchObject({ code: 3 });
  },
  "forget --all": async (as) => {
    await as.json("add", "tea", "--session", "s");
    await as.json("add", "tea");
    expect(await as.json("forget", "--all", "--yes")).toMatchObject({ items: 2, entries: 1 });
  },

  "blocks create --description": async (as) => {
    await as.block("x", "--description", "who she is");
    expect(await as.json("blocks", "show", "b")).toMatchObject({ description: "who she is" });
  },
  "blocks create --max-tokens": async (as) => {
    await as.block("x", "--max-tokens", "7");
    expect(await as.json("blocks", "show", "b")).toMatchObject({ maxTokens: 7 });
  },
  "blocks create --counter": async (as) => {
    await as.block("x", "--counter", "gpt-4o-mini");
    expect(await as.json("blocks", "show", "b")).toMatchObject({ counter: "gpt-4o-mini" });
  },
  "blocks create --policy": async (as) => {
    await as.block("x", "--max-tokens", "1", "--policy", "refuse");
    expect((await as.run(["blocks", "edit", "b", "--append", "a long text"])).code).toBe(2);
  },
  "blocks create --read-only": async (as) => {
    await as.block("x", "--read-only");
    expect((await as.run(["blocks", "edit", "b", "--append", "y"])).code).toBe(4);
  },
  "blocks create --reason": async (as) => expectCreation(as, "--reason", "a new start", { reason: "a new start" }),
  "blocks create --actor": async (as) => expectCreation(as, "--actor", "Grace", { actor: "Grace" }),

  "blocks edit --content": async (as) => {
    await as.block("old");
    expect(await as.edited("--content", "new")).toBe("new");
    const piped = await as.run(["blocks", "edit", "b", "--content", "-", "--json"], { stdin: "piped\n" });
    expect(jsonOf(piped)).toMatchObject({ content: "piped\n" });
  },
  "blocks edit --append": async (as) => {
    await as.block("one");
    expect(await as.edited("--append", "two")).toBe("one\ntwo");
  },
  "blocks edit --replace": async (as) => {
    await as.block("tea");
    expect(await as.edited("--replace", "tea", "--with", "coffee")).toBe("coffee");
  },
  "blocks edit --with": async (as) => {
    await as.block("tea or coffee");
    expect(await as.edited("--replace", " or coffee", "--with", "")).toBe("tea");
    expect((await as.run(["blocks", "edit", "b", "--replace", "tea"])).code).toBe(2);
  },
  "blocks edit --all": async (as) => {
    await as.block("tea tea");
    expect((await as.run(["blocks", "edit", "b", "--replace", "tea", "--with", "x"])).code).toBe(1);
    expect(await as.edited("--replace", "tea", "--with", "x", "--all")).toBe("x x");
  },
  "blocks edit --insert": async (as) => {
    await as.block("one\nthree");
    expect(await as.edited("--insert", "two", "--line", "1")).toBe("one\ntwo\nthree");
  },
  "blocks edit --line": async (as) => {
    await as.block("one");
    expect(await as.edited("--insert", "zero", "--line", "0")).toBe("zero\none");
  },
  "blocks edit --patch": async (as) => {
    await as.block("one\n");
    await as.edited("--content", "two\n");
    const { out: patch } = await as.run(["blocks", "diff", "b"]);
    await as.edited("--content", "one\n");
    const ran = await as.run(["blocks", "edit", "b", "--patch", "-", "--json"], { stdin: patch });
    expect(jsonOf(ran)).toMatchObject({ content: "two\n", version: 4 });
  },
  "blocks edit --expect-version": async (as) => {
    await as.block("one");
    await as.edited("--append", "two");
    expect((await as.run(["blocks", "edit", "b", "--append", "x", "--expect-version", "1"])).code).toBe(1);
    expect(await as.edited("--append", "x", "--expect-version", "2")).toBe("one\ntwo\nx");
  },
  "blocks edit --merge": async (as) => {
    await as.block("one\ntwo\nthree\nfour\nfive\n");
    await as.edited("--replace", "five", "--with", "5");
    const text = await as.edited("--replace", "one", "--with", "1", "--expect-version", "1", "--merge");
    expect(text).toBe("1\ntwo\nthree\nfour\n5\n");
  },
  "blocks edit --reason": async (as) => {
    await as.block("one");
    await as.edited("--append", "two", "--reason", "why not");
    expect(await as.lastEdit()).toMatchObject({ reason: "why not", actor: `user ${as.user}` });
  },
  "blocks edit --actor": async (as) => {
    await as.block("one");
    await as.edited("--append", "two", "--actor", "Grace");
    expect(await as.lastEdit()).toMatchObject({ actor: "Grace" });
  },

  "blocks configure --description": async (as) => expectConfigured(as, ["--description", "d"], { description: "d" }),
  "blocks configure --max-tokens": async (as) => expectConfigured(as, ["--max-tokens", "9"], { maxTokens: 9 }),
  "blocks configure --counter": async (as) =>
    expectConfigured(as, ["--counter", "gpt-4o-mini"], { counter: "gpt-4o-mini" }),
  "blocks configure --policy": async (as) => expectConfigured(as, ["--policy", "archive"], { policy: "archive" }),
  "blocks configure --read-only": async (as) => expectConfigured(as, ["--read-only"], { readOnly: true }),
  "blocks configure --no-read-only": async (as) => {
    await expectConfigured(as, ["--read-only"], { readOnly: true });
    expect(await as.json("blocks", "configure", "b", "--max-tokens", "5")).toMatchObject({ readOnly: true });
    expect(await as.json("blocks", "configure", "b", "--no-read-only")).toMatchObject({ readOnly: false });
  },
  "blocks configure --reason": async (as) => {
    await expectConfigured(as, ["--max-tokens", "9", "--reason", "too long"], {});
    expect(await as.lastEdit()).toMatchObject({ reason: "too long" });
  },
  "blocks configure --actor": async (as) => {
    await expectConfigured(as, ["--max-tokens", "9", "--actor", "Grace"], {});
    expect(await as.lastEdit()).toMatchObject({ actor: "Grace" });
  },

  "blocks rename --expect-version": async (as) => {
    await as.block("one");
    expect((await as.run(["blocks", "rename", "b", "c", "--expect-version", "7"])).code).toBe(1);
  },
  "blocks rename --reason": async (as) => {
    await as.block("one");
    expect(await as.json("blocks", "rename", "b", "c", "--reason", "better name")).toMatchObject({ name: "c" });
    expect(await as.lastEdit("c")).toMatchObject({ reason: "better name" });
  },
  "blocks rename --actor": async (as) => {
    await as.block("one");
    await as.json("blocks", "rename", "b", "c", "--actor", "Grace");
    expect(await as.lastEdit("c")).toMatchObject({ actor: "Grace" });
  },
  "blocks restore --expect-version": async (as) => {
    await as.block("one");
    expect((await as.run(["blocks", "restore", "b", "1", "--expect-version", "7"])).code).toBe(1);
    expect(await as.run(["blocks", "restore", "b", "one"])).toMatchObject({ code: 2 });
  },
  "blocks restore --reason": async (as) => {
    await as.block("one");
    await as.edited("--content", "two");
    expect(await as.json("blocks", "restore", "b", "1", "--reason", "oops")).toMatchObject({
      content: "one",
      version: 3,
    });
    expect(await as.lastEdit()).toMatchObject({ reason: "oops" });
  },
  "blocks restore --actor": async (as) => {
    await as.block("one");
    await as.json("blocks", "restore", "b", "1", "--actor", "Grace");
    expect(await as.lastEdit()).toMatchObject({ actor: "Grace" });
  },
  "blocks delete --yes": async (as) => {
    await as.block("one");
    expect((await as.run(["blocks", "delete", "b"])).code).toBe(2);
    expect(await as.json("blocks", "delete", "b", "--yes")).toMatchObject({ blocks: 1 });
    expect((await as.run(["blocks", "show", "b"])).code).toBe(3);
  },
  "blocks history --limit": async (as) => {
    await as.block("one");
    for (const text of ["two", "three"]) await as.edited("--append", text);
    expect(await as.json("blocks", "history", "b", "--limit", "1")).toHaveLength(1);
    expect(await as.json("blocks", "history", "b")).toHaveLength(3);
  },
  "config --changed": async (as) => {
    const names = async (...flags: readonly string[]): Promise<readonly string[]> =>
      jsonOf<readonly { readonly name: string }[]>(await as.anyone(["config", ...flags, "--json"])).map(
        ({ name }) => name,
      );
    expect(await names()).toContain("buffer.query.max_size");
    expect(await names("--changed")).toEqual(expect.arrayContaining(["store.path", "server.port"]));
    expect(await names("--changed")).not.toContain("buffer.query.max_size");
  },
  "stats --targets": async (as) => {
    await as.run(["add", "a cup of tea"]);
    for (let asked = 0; asked < 22; asked++) await as.run(["query", "tea"]); // 21 from the cache
    const targets = jsonOf<readonly Named[]>(await as.anyone(["stats", "--targets", "--json"]));
    expect(targets).toEqual(jsonOf<{ targets: object }>(await as.anyone(["stats", "--json"])).targets);
    const { out, err } = await as.anyone(["stats", "--targets"]);
    const [head = "", ...rows] = out.trimEnd().split("\n");
    expect(head.split("\t")).toEqual(["AREA", "WHAT", "TARGET", "MEASURED", "VERDICT", "ALERT"]);
    expect(rows).toHaveLength(targets.length);
    expect(out).toMatch(/^latency\tflush\tat most 200 ms\t\tno data\t$/m);
    expect(out).toMatch(/^latency\tcached query\tat most 10 ms\t[\d.]+ ms\t(healthy|warning)\t$/m);
    expect(out).toMatch(/^memory\thybrid buffer\tat most 5 MiB\t[\d.]+ KiB\thealthy\t$/m);
    expect(out).toMatch(/^health\ttransfer rate\t10 to 100\/min\t\tno data\tover 500\/min$/m);
    expect(out).toMatch(/^health\tcache hit rate\tover 80 %\t\d+ %\t\w+\tunder 50 %$/m);
    expect(err).not.toContain("nothing was measured");
    expect((await holdfast(["stats", "--targets", "--path", ":memory:"])).err).toContain("nothing was measured");
  },
};

async function expectCreation(as: As, flag: string, value: string, expected: object): Promise<void> {
  await as.block("one", flag, value);
  const lines = (await as.run(["export"])).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toContainEqual(expect.objectContaining({ type: "block", version: 1, ...expected }));
}

async function expectConfigured(as: As, flags: readonly string[], expected: object): Promise<void> {
  await as.block("one");
  expect(await as.json("blocks", "configure", "b", ...flags)).toMatchObject({
    ...expected,
    content: "one",
    version: 2,
  });
}
