/**
 * Many clients on one file: each has its own process, one is a server, all write at once, and some are killed. No write
 * is lost, every client sees everything, and killed processes leave nothing behind.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { holdfast, jsonOf, Process } from "../cli/cli.js";
import { Child } from "../support/child.js";
import { inFolder } from "../support/folder.js";
import { unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";
import { Agent, isRunning } from "./processes-clients.js";
import type { Told } from "./processes-dying.js";

const CLIENTS = 10;
const SAVES = 5;
const EDITS = 3;
/** What SQLite keeps beside a file in use, and we leave there. */
const FILES = ["memory.db", "memory.db-shm", "memory.db-wal"];

it("ten clients and a server on one file lose no write, and each sees what all have written", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const server = Process.holdfast(["serve", "--port", "0", "--path", path]);
    await server.until("or:");
    const [, url = ""] = /listening on (\S+)/.exec(server.out) ?? [];
    const started = Array.from({ length: CLIENTS }, (_, number) =>
      Agent.overStdio(["--path", path, "--user", "ada", "--session", `client ${number}`]),
    );
    const overHttp = Agent.overHttp(`${url}/mcp?user=ada&session=http`);
    const agents = await Promise.all([...started, overHttp]);
    const [first] = agents as [Agent];
    const lines = agents.map((_, number) => `agent ${number}: 0`);
    await first.block({ command: "create", name: "shared", content: `start\n${lines.join("\n")}` });

    const ids = (await Promise.all(agents.map((agent, number) => work(agent, number)))).flat();
    expect(new Set(ids).size).toBe(agents.length * SAVES);

    const names = ["shared", ...agents.map((_, number) => `notes-${number}`)];
    const seen = await Promise.all(agents.map((agent, at) => readAll(agent, ids, (at + 1) % agents.length)));
    const [{ block }] = seen as [Seen];
    for (const one of seen) {
      expect(one).toEqual({ missing: [], found: SAVES, uris: names.map(uriOf).toSorted(), block });
    }
    expect(block.version).toBe(1 + agents.length * EDITS * 2);
    const inserted = agents.flatMap((_, number) => Array.from({ length: EDITS }, (_, at) => `line ${number}-${at}`));
    const replaced = agents.map((_, number) => `agent ${number}: ${EDITS}`);
    expect(block.content?.split("\n").toSorted()).toEqual(["start", ...inserted, ...replaced].toSorted());

    expect(jsonOf(await holdfast(["doctor", "--json", "--path", path]))).toMatchObject({ state: "ok" });
    await Promise.all(agents.map((agent) => agent.close()));
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(agents.filter(({ pid }) => pid !== undefined && isRunning(pid))).toEqual([]);
    expect(FILES).toEqual(expect.arrayContaining(readdirSync(folder)));
    const memory = await openMemory({ path });
    const history = await memory.session({ user: "ada" }).blocks.history("shared", { limit: 1000 });
    expect(history.map(({ version }) => version)).toEqual(history.map((_, at) => block.version - at));
    expect(history.length).toBe(block.version - 1);
    await memory.close();
    expect(unsoundness(path)).toEqual([]);
  });
});

const uriOf = (name: string): string => `memory://blocks/${name}`;

/** Saves, edits of the block that all share, and a block of its own, as fast as the answers come. */
async function work(agent: Agent, number: number): Promise<string[]> {
  const saving = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let at = 0; at < SAVES; at++) ids.push(await agent.save(`Word${number} says that boat ${at} has left.`));
    return ids;
  };
  const editing = async (): Promise<void> => {
    for (let at = 0; at < EDITS; at++) {
      const [old, more] = [`agent ${number}: ${at}`, `agent ${number}: ${at + 1}`];
      await agent.block({ command: "insert", name: "shared", line: 1, new: `line ${number}-${at}` });
      await agent.block({ command: "str_replace", name: "shared", old, new: more });
    }
    await agent.block({ command: "create", name: `notes-${number}`, content: `of agent ${number}` });
  };
  const [ids] = await Promise.all([saving(), editing()]);
  return ids;
}

interface Seen {
  readonly missing: readonly string[];
  /** How many memories of another client a search has found. */
  readonly found: number;
  readonly uris: readonly string[];
  readonly block: { readonly version: number; readonly content?: string };
}

async function missingOf(agent: Agent, ids: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (let start = 0; start < ids.length; start += 20) {
    const asked = ids.slice(start, start + 20);
    const { data } = await agent.call("memory_get", { ids: asked });
    const items = data["items"] as readonly { readonly id: string }[];
    missing.push(...asked.filter((id) => !items.some((item) => item.id === id)));
  }
  return missing;
}

async function readAll(agent: Agent, ids: readonly string[], other: number): Promise<Seen> {
  const missing = await missingOf(agent, ids);
  const { data } = await agent.call("memory_search", { query: `Word${other}` });
  const hits = data["hits"] as readonly { readonly content: string }[];
  const found = hits.filter(({ content }) => content.startsWith(`Word${other} `)).length;
  const block = await agent.block({ command: "view", name: "shared" });
  return { missing, found, uris: (await agent.resources()).toSorted(), block };
}

it("a server or client that is killed leaves no process, blocks no other, and loses no acknowledged write", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const bystander = await Agent.overStdio(["--path", path, "--user", "ada", "--session", "bystander"]);
    const doomed = await Agent.overStdio(["--path", path, "--user", "ada", "--session", "doomed"]);
    const client = new DyingClient(path, "client");
    const ids: string[] = [];
    const saving = async (): Promise<never> => {
      for (;;) ids.push(await doomed.save("The doomed server says something."));
    };
    const cut = expect(saving()).rejects.toThrow();
    await client.acknowledged(20);
    await until(() => ids.length >= 20);
    process.kill(Number(doomed.pid), "SIGKILL");
    client.kill();
    ids.push(await bystander.save("The bystander goes on.")); // at once: what the dead held holds up nobody
    await Promise.all([cut, client.ended]);
    ids.push(...client.ids);
    await until(() => ![Number(doomed.pid), client.pid].some(isRunning));

    const seen = await Agent.overStdio(["--path", path, "--user", "ada"]);
    expect(await missingOf(seen, ids)).toEqual([]);
    await seen.save("Another one comes.");
    await Promise.all([seen, bystander].map((agent) => agent.close()));
    expect(jsonOf(await holdfast(["doctor", "--json", "--path", path]))).toMatchObject({ state: "ok" });
    expect(FILES).toEqual(expect.arrayContaining(readdirSync(folder)));
    const memory = await openMemory({ path });
    const { items } = await memory.session({ user: "ada", session: "client" }).list({ limit: 1000, order: "asc" });
    expect(items.map(({ content }) => content)).toEqual(items.map((_, at) => `client saw boat ${at}`));
    await memory.close();
    expect(unsoundness(path)).toEqual([]);
  });
});

/** A client in a process of its own, whose server is a process of its own. */
class DyingClient {
  /** Of the server. */
  pid = 0;
  /** What was acknowledged. */
  readonly ids: string[] = [];
  readonly #child: Child<never, Told>;

  constructor(path: string, name: string) {
    this.#child = new Child(new URL("./processes-dying.js", import.meta.url), [path, name], (told) => {
      if ("pid" in told) this.pid = told.pid;
      else this.ids.push(told.id);
    });
  }

  acknowledged(count: number): Promise<void> {
    return until(() => this.ids.length >= count);
  }

  kill(): void {
    this.#child.kill();
  }

  get ended(): Promise<unknown> {
    return this.#child.ended;
  }
}
