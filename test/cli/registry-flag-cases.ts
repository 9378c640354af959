/** The same for facts, sessions, users, keys and transfers. */
import { expect } from "vitest";
import { jsonOf } from "./cli.js";
import type { As } from "./flag-cases.js";

interface Paged {
  readonly items: readonly { readonly name?: string; readonly id: string; readonly expiresAt?: number }[];
  readonly next?: string;
}

export const REGISTRY_FLAG_CASES: { readonly [flag: string]: (as: As) => Promise<void> } = {
  "facts list --category": async (as) => {
    await as.fact("home", "lives in Lisbon");
    await as.fact("drink", "likes tea");
    await as.fact("food", "likes bread");
    expect(await as.facts("list", "--category", "drink", "--category", "food")).toEqual(["likes tea", "likes bread"]);
  },
  "facts list --state": async (as) => {
    await as.json("facts", "end", await as.fact("home", "lives in Porto"));
    expect(await as.facts("list")).toEqual([]);
    expect(await as.facts("list", "--state", "ended")).toEqual(["lives in Porto"]);
  },
  "facts list --pinned": async (as) => {
    await as.fact("home", "lives in Lisbon");
    await as.fact("diet", "no nuts", "--pinned");
    expect(await as.facts("list", "--pinned")).toEqual(["no nuts"]);
  },
  "facts list --as-of": async (as) => {
    const porto = await as.fact("home", "lives in Porto", "--since", "2020-01-01");
    await as.json("facts", "end", porto, "--at", "2021-01-01");
    expect(await as.facts("list", "--as-of", "2020-06-01")).toEqual(["lives in Porto"]);
  },
  "facts list --limit": async (as) => {
    for (const text of ["one", "two"]) await as.fact("n", text);
    expect(await as.facts("list", "--limit", "1")).toEqual(["one"]);
  },
  "facts list --cursor": async (as) => {
    for (const text of ["one", "two"]) await as.fact("n", text);
    const { next = "" } = await as.json<Paged>("facts", "list", "--limit", "1");
    expect(await as.facts("list", "--cursor", next)).toEqual(["two"]);
    expect((await as.run(["facts", "list", "-n", "1"])).err).toMatch(/more: --cursor [\w-]{20}/);
  },
  "facts query --limit": async (as) => {
    for (const text of ["tea one", "tea two"]) await as.fact("n", text);
    expect(await as.facts("query", "tea", "--limit", "1")).toHaveLength(1);
  },
  "facts query --category": async (as) => {
    await as.fact("home", "tea at home");
    await as.fact("work", "tea at work");
    expect(await as.facts("query", "tea", "--category", "work")).toEqual(["tea at work"]);
  },
  "facts query --as-of": async (as) => {
    const porto = await as.fact("home", "lives in Porto", "--since", "2020-01-01");
    await as.json("facts", "end", porto, "--at", "2021-01-01");
    expect(await as.facts("query", "Porto")).toEqual([]);
    expect(await as.facts("query", "Porto", "--as-of", "2020-06-01")).toEqual(["lives in Porto"]);
  },
  "facts add --confidence": async (as) => {
    expect(await as.json("facts", "add", "n", "x", "--confidence", "0.4")).toMatchObject({ fact: { confidence: 0.4 } });
  },
  "facts add --since": async (as) => {
    expect(await as.json("facts", "add", "n", "x", "--since", "2020-01-01")).toMatchObject({
      fact: { spans: [{ from: Date.UTC(2020, 0, 1) }] },
    });
  },
  "facts add --supersedes": async (as) => {
    const porto = await as.fact("home", "lives in Porto");
    await as.fact("home", "lives in Lisbon", "--supersedes", porto);
    expect(await as.facts("list")).toEqual(["lives in Lisbon"]);
  },
  "facts add --message": async (as) => {
    await as.json("add", "I like tea", "--id", "m1");
    await as.fact("drink", "likes tea", "--message", "m1");
    expect(await as.json("forget", "m1")).toMatchObject({ items: 2, facts: 1 });
    expect(await as.facts("list")).toEqual([]);
  },
  "facts add --pinned": async (as) => {
    expect(await as.json("facts", "add", "n", "x", "--pinned")).toMatchObject({ fact: { pinned: true } });
  },
  "facts add --force": async (as) => {
    await as.json("facts", "retract", await as.fact("n", "x"));
    await as.fact("n", "x");
    expect(await as.facts("list")).toEqual([]);
    await as.fact("n", "x", "--force");
    expect(await as.facts("list")).toEqual(["x"]);
  },
  "facts end --at": async (as) => {
    const id = await as.fact("n", "x", "--since", "2020-01-01");
    expect(await as.json("facts", "end", id, "--at", "2021-01-01")).toMatchObject({
      state: "ended",
      spans: [{ to: Date.UTC(2021, 0, 1) }],
    });
  },

  "sessions list --limit": async (as) => {
    for (const name of ["one", "two"]) await as.json("add", "x", "--session", name);
    expect((await as.json<Paged>("sessions", "list", "--limit", "1")).items).toMatchObject([{ name: "one" }]);
  },
  "sessions list --cursor": async (as) => {
    for (const name of ["one", "two"]) await as.json("add", "x", "--session", name);
    const { next = "" } = await as.json<Paged>("sessions", "list", "--limit", "1");
    expect((await as.json<Paged>("sessions", "list", "--cursor", next)).items).toMatchObject([{ name: "two" }]);
  },
  "sessions list --order": async (as) => {
    for (const name of ["one", "two"]) await as.json("add", "x", "--session", name);
    expect((await as.json<Paged>("sessions", "list", "--order", "desc")).items).toMatchObject([
      { name: "two" },
      { name: "one" },
    ]);
  },
  "sessions forget --yes": async (as) => {
    await as.json("add", "x", "--session", "one");
    expect((await as.run(["sessions", "forget", "one"])).code).toBe(2);
    expect(await as.json("sessions", "forget", "one", "--yes")).toMatchObject({ items: 1, sessions: 1 });
    expect((await as.run(["sessions", "forget", "one", "--yes"])).code).toBe(3);
  },
  ...entryCases("users", "--user"),
  ...entryCases("agents", "--agent"),
  ...entryCases("teams", "--team"),

  "key create --name": async (as) => {
    expect(await created(as, "--user", "x", "--name", "laptop")).toMatchObject({ name: "laptop" });
  },
  "key create --access": async (as) => {
    expect(await created(as, "--user", "x")).toMatchObject({ access: "read" });
    expect(await created(as, "--user", "x", "--access", "write")).toMatchObject({ access: "write" });
    expect(await created(as, "--access", "admin")).toMatchObject({ spaces: ["user", "agent", "team"] });
  },
  "key create --user": async (as) => {
    expect(await created(as, "--user", "x", "-u", "y")).toMatchObject({ spaces: [{ user: "x" }, { user: "y" }] });
  },
  "key create --agent": async (as) =>
    expect(await created(as, "--agent", "x")).toMatchObject({ spaces: [{ agent: "x" }] }),
  "key create --team": async (as) =>
    expect(await created(as, "--team", "x")).toMatchObject({ spaces: [{ team: "x" }] }),
  "key create --every": async (as) => {
    expect(await created(as, "--every", "users", "--every", "team")).toMatchObject({ spaces: ["user", "team"] });
  },
  "key create --expires": async (as) => {
    const { expiresAt = 0 } = await created(as, "--user", "x", "--expires", "2d");
    expect(Math.abs(expiresAt - Date.now() - 2 * 86_400_000)).toBeLessThan(600_000);
  },
  "key list --limit": async (as) => {
    await created(as, "--user", "x");
    await created(as, "--user", "x");
    expect(jsonOf<Paged>(await as.anyone(["key", "list", "--limit", "1", "--json"])).items).toHaveLength(1);
  },
  "key list --cursor": async (as) => {
    await created(as, "--user", "x");
    await created(as, "--user", "x");
    const first = jsonOf<Paged>(await as.anyone(["key", "list", "-n", "1", "--json"]));
    const rest = jsonOf<Paged>(await as.anyone(["key", "list", "--cursor", first.next ?? "", "--json"]));
    expect(rest.items.map(({ id }) => id)).not.toContain(first.items[0]?.id);
  },

  "import --on-conflict": async (as) => {
    await as.json("add", "first", "--id", "i1");
    const stdin = '{"id":"i1","role":"user","content":"other"}\n{"id":"i2","role":"user","content":"second"}\n';
    expect((await as.run(["import"], { stdin })).code).toBe(1);
    const skipped = await as.run(["import", "--on-conflict", "skip"], { stdin });
    expect(skipped).toMatchObject({ code: 0, out: "imported: 1 item\n" });
    expect(skipped.err).toContain("existing with other content: 1 line");
  },
};

async function created(as: As, ...flags: readonly string[]): Promise<Paged["items"][number]> {
  const ran = await as.anyone(["key", "create", ...flags, "--json"]);
  return jsonOf<{ readonly key: Paged["items"][number] }>(ran).key;
}

function entryCases(kind: string, flag: string): { readonly [flag: string]: (as: As) => Promise<void> } {
  const list = async (as: As, ...flags: string[]): Promise<Paged> =>
    jsonOf<Paged>(await as.anyone([kind, "list", ...flags, "--json"]));
  const two = async (as: As): Promise<void> => {
    for (const name of ["one", "two"]) await as.anyone(["add", "x", flag, `${kind} ${name}`]);
  };
  return {
    [`${kind} list --limit`]: async (as) => {
      await two(as);
      expect((await list(as, "--limit", "1")).items).toHaveLength(1);
    },
    [`${kind} list --cursor`]: async (as) => {
      await two(as);
      const { items, next = "" } = await list(as, "--limit", "1");
      expect((await list(as, "--cursor", next)).items.map(({ id }) => id)).not.toContain(items[0]?.id);
    },
  };
}
