import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConversationMemory } from "../../conversation/conversation-memory.js";
import { type Database, openDatabase } from "../../stores/sqlite/file/driver.js";
import { FakeClock } from "../../testing/fake-clock.js";
import { MemoryManager } from "./memory-manager.js";

let root: string;
let base: string;
let manager: MemoryManager;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-team-"));
  base = join(root, "made", "by the first save");
  manager = new MemoryManager(base);
});
afterEach(() => rm(root, { recursive: true }));

const folderOf = (team: string): string => join(base, team, "memory");
const fileOf = (team: string, agent: string): string => join(folderOf(team), `${agent}.json`);

function memoryOf(...contents: readonly string[]): ConversationMemory {
  const memory = new ConversationMemory();
  for (const content of contents) memory.recordTurn("user", content);
  return memory;
}

async function loaded(agent: string): Promise<readonly string[] | undefined> {
  return (await manager.load("team", agent))?.turns.map(({ content }) => content);
}

/** A file as a process that died during a save leaves it. */
const LEFT_OVER = ".0b9f3f8e-3c8e-4b8e-9d8e-0b9f3f8e3c8e.tmp";

describe("the seed's tests", () => {
  it("memory_manager_save_load_delete", async () => {
    const memory = ConversationMemory.withDefaults();
    memory.recordTurn("user", "ping");
    memory.recordTurn("assistant", "pong");
    await manager.save("team1", "agent1", memory);
    const found = await manager.load("team1", "agent1");
    expect(found?.length).toBe(2);
    expect(found?.formatContext()).toContain("pong");
    await manager.delete("team1", "agent1");
    expect(await manager.load("team1", "agent1")).toBeUndefined();
  });

  it("memory_manager_load_nonexistent", async () => {
    expect(await manager.load("no-team", "no-agent")).toBeUndefined();
    await manager.delete("no-team", "no-agent");
    expect(await readdir(root)).toEqual([]);
  });
});

describe("a memory on a file", () => {
  it("is readable JSON in a private file of a private folder, with nothing beside it but the lock", async () => {
    const memory = new ConversationMemory({}, new FakeClock(Date.UTC(2026, 10, 16)));
    memory.recordTurn("user", "Olá");
    await manager.save("team", "agent", memory);
    expect(await readFile(fileOf("team", "agent"), "utf8")).toBe(`{
  "turns": [
    {
      "role": "user",
      "content": "Olá",
      "timestamp": "2026-11-16T00:00:00.000Z"
    }
  ],
  "config": {
    "max_turns": 5,
    "budget_chars": 4000
  }
}
`);
    expect((await readdir(folderOf("team"))).sort()).toEqual([".lock", "agent.json"]);
    expect((await stat(join(folderOf("team"), ".lock"))).size).toBe(0);
    const modes = [
      fileOf("team", "agent"),
      join(folderOf("team"), ".lock"),
      folderOf("team"),
      join(base, "team"),
      base,
    ];
    expect(await Promise.all(modes.map(async (path) => (await stat(path)).mode & 0o777))).toEqual([
      0o600, 0o600, 0o700, 0o700, 0o700,
    ]);
  });

  it("gives way to limits from code, and a mistake in them does not harm the file", async () => {
    await manager.save("team", "agent", memoryOf("one", "two"));
    expect((await manager.load("team", "agent", { maxTurns: 1 }))?.length).toBe(1);
    await expect(manager.load("team", "agent", { maxTurns: -1 })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await loaded("agent")).toEqual(["one", "two"]);
  });

  it("is one file per agent and team, with names in any alphabet", async () => {
    await manager.save("команда", "Zoe\u0308", memoryOf("a"));
    await manager.save("команда", "李", memoryOf("b"));
    expect((await readdir(folderOf("команда"))).sort()).toEqual([".lock", "Zo\u00EB.json", "李.json"]);
    expect((await manager.load("команда", "Zo\u00EB"))?.turns[0]?.content).toBe("a");
  });

  it.each([
    ["../outside", "agent"],
    ["team", "../../../outside"],
    ["..", "agent"],
    ["team", ".lock"],
    ["/etc", "passwd"],
    ["team\\..", "agent"],
    ["team", "a\0b"],
    ["", ""],
  ])("cannot be reached outside of its place: %j, %j", async (team, agent) => {
    for (const call of [
      manager.save(team, agent, memoryOf("x")),
      manager.load(team, agent),
      manager.delete(team, agent),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await readdir(root)).toEqual([]);
  });

  it("is not looked for through a link that leads out of the base", async () => {
    const outside = join(root, "outside");
    await mkdir(join(outside, "memory"), { recursive: true });
    await writeFile(join(outside, "memory", "agent.json"), JSON.stringify(memoryOf("secret")));
    await mkdir(join(base, "inner"), { recursive: true });
    await symlink(outside, join(base, "team"));
    await symlink(join(outside, "memory"), join(base, "inner", "memory"));
    for (const team of ["team", "inner"]) {
      for (const call of [
        manager.save(team, "agent", memoryOf("x")),
        manager.load(team, "agent"),
        manager.delete(team, "agent"),
      ]) {
        await expect(call).rejects.toMatchObject({ code: "store_unsafe" });
      }
    }
    expect(await readdir(join(outside, "memory"))).toEqual(["agent.json"]);
  });

  it("is not read through a link in its own place, which a save replaces", async () => {
    await manager.save("team", "agent", memoryOf("mine"));
    const outside = join(root, "outside.json");
    await writeFile(outside, JSON.stringify(memoryOf("secret")));
    await rm(fileOf("team", "agent"));
    await symlink(outside, fileOf("team", "agent"));
    await expect(manager.load("team", "agent")).rejects.toMatchObject({
      code: "store_unsafe",
      details: { path: fileOf("team", "agent") },
    });
    await manager.save("team", "agent", memoryOf("mine again"));
    expect(await loaded("agent")).toEqual(["mine again"]);
    expect(await readFile(outside, "utf8")).toContain("secret");
  });

  it("is saved under its name although its folder was removed or renamed since the last save", async () => {
    await manager.save("team", "agent", memoryOf("before"));
    await rm(join(base, "team"), { recursive: true });
    await manager.save("team", "agent", memoryOf("after a removal"));
    expect(await loaded("agent")).toEqual(["after a removal"]);
    await rename(base, `${base}-elsewhere`);
    await manager.save("team", "agent", memoryOf("after a rename"));
    expect(await loaded("agent")).toEqual(["after a rename"]);
  });

  it("is not saved if the lock is a link, or another program's file", async () => {
    await mkdir(folderOf("team"), { recursive: true });
    const lock = join(folderOf("team"), ".lock");
    await symlink(join(root, "elsewhere"), lock);
    await expect(manager.save("team", "agent", memoryOf("x"))).rejects.toMatchObject({ code: "store_unsafe" });
    await rm(lock);
    await writeFile(lock, "pid 4711");
    await expect(manager.save("team", "agent", memoryOf("x"))).rejects.toMatchObject({
      code: "store_failed",
      details: { path: lock },
    });
    expect(await readFile(lock, "utf8")).toBe("pid 4711");
  });
});

describe("saves of one process", () => {
  it("are of the moment of the call, and land in the order of the calls", async () => {
    const memory = memoryOf("1");
    const saves = [manager.save("team", "agent", memory)];
    for (let turn = 2; turn <= 5; turn++) {
      memory.recordTurn("user", String(turn));
      saves.push(new MemoryManager(base).save("team", "agent", memory));
    }
    memory.recordTurn("user", "not saved");
    await Promise.all(saves);
    expect(await loaded("agent")).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("that still wait are overtaken by the newest, and all resolve when it is on disk", async () => {
    const seen: string[] = [];
    let done = 0;
    const saves = Array.from({ length: 100 }, async (_, at) => {
      await manager.save("team", "agent", memoryOf(String(at)));
      done++;
      seen.push(JSON.parse(await readFile(fileOf("team", "agent"), "utf8")).turns[0].content);
    });
    await Promise.all(saves);
    expect(done).toBe(100);
    expect(seen).toEqual(Array(100).fill("99"));
  });

  it("keep their place between loads and deletions", async () => {
    const first = manager.save("team", "agent", memoryOf("first"));
    const between = loaded("agent");
    const deleted = manager.delete("team", "agent");
    const gone = loaded("agent");
    const second = manager.save("team", "agent", memoryOf("second"));
    const last = loaded("agent");
    await Promise.all([first, deleted, second]);
    expect([await between, await gone, await last]).toEqual([["first"], undefined, ["second"]]);
    await Promise.all([manager.save("team", "agent", memoryOf("third")), manager.delete("team", "agent")]);
    expect(await loaded("agent")).toBeUndefined();
  });

  it("of many agents of a team do not get in each other's way", async () => {
    const agents = Array.from({ length: 30 }, (_, at) => `agent ${at}`);
    await Promise.all(agents.map((agent) => manager.save("team", agent, memoryOf(agent))));
    expect(await Promise.all(agents.map(loaded))).toEqual(agents.map((agent) => [agent]));
  });

  it("that fail leave the file as it was and do not harm the next", async () => {
    await manager.save("team", "agent", memoryOf("old"));
    await mkdir(join(folderOf("team"), "other.json"));
    await expect(manager.save("team", "other", memoryOf("x"))).rejects.toMatchObject({ code: "store_failed" });
    expect((await readdir(folderOf("team"))).sort()).toEqual([".lock", "agent.json", "other.json"]);
    const [failed, saved] = await Promise.allSettled([
      manager.save("team", "other", memoryOf("x")),
      manager.save("team", "agent", memoryOf("new")),
    ]);
    expect(failed).toMatchObject({
      status: "rejected",
      reason: { code: "store_failed", details: { path: fileOf("team", "other") } },
    });
    expect(saved.status).toBe("fulfilled");
    await rm(join(folderOf("team"), "other.json"), { recursive: true });
    await manager.save("team", "other", memoryOf("y"));
    expect([await loaded("agent"), await loaded("other")]).toEqual([["new"], ["y"]]);
    expect((await readdir(folderOf("team"))).sort()).toEqual([".lock", "agent.json", "other.json"]);
  });

  it("remove what a killed process has left behind, and nothing else", async () => {
    await manager.save("team", "agent", memoryOf("a"));
    for (const name of [LEFT_OVER, ".mine.tmp"]) await writeFile(join(folderOf("team"), name), "{");
    await manager.save("team", "other", memoryOf("b"));
    expect((await readdir(folderOf("team"))).sort()).toEqual([".lock", ".mine.tmp", "agent.json", "other.json"]);
  });

  it("take nothing but a ConversationMemory", async () => {
    await expect(manager.save("team", "agent", { turns: [] } as never)).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await readdir(root)).toEqual([]);
  });
});

describe("a damaged file", () => {
  const KEPT = "agent.json.corrupt-2026-11-16T00-00-00.000Z";

  it.each([
    ["is cut short", '{ "turns": [ { "role": "user", "content": "secr'],
    ["is empty", ""],
    ["is not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["has another form", '{ "turns": [], "config": { "max_turns": "secret" } }'],
    ["is something else", '"secret"'],
  ])("that %s is reported with its path and set aside; then the agent starts empty", async (_, bytes) => {
    manager = new MemoryManager(base, { clock: new FakeClock(Date.UTC(2026, 10, 16)) });
    await manager.save("team", "other", memoryOf("well"));
    await writeFile(fileOf("team", "agent"), bytes);
    const error: unknown = await manager.load("team", "agent").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "store_failed",
      details: { path: fileOf("team", "agent"), keptAs: join(folderOf("team"), KEPT) },
    });
    expect(String(error)).toContain(fileOf("team", "agent"));
    expect(JSON.stringify([String(error), error])).not.toContain("secr");
    expect(await readFile(join(folderOf("team"), KEPT))).toEqual(Buffer.from(bytes));
    expect(await loaded("agent")).toBeUndefined();
    await manager.save("team", "agent", memoryOf("anew"));
    expect(await loaded("agent")).toEqual(["anew"]);
    expect(await loaded("other")).toEqual(["well"]);
  });

  it("does not take the place of one that was kept before", async () => {
    manager = new MemoryManager(base, { clock: new FakeClock(Date.UTC(2026, 10, 16)) });
    await manager.save("team", "agent", memoryOf("x"));
    for (const bytes of ["one", "two", "three"]) {
      await writeFile(fileOf("team", "agent"), bytes);
      await expect(manager.load("team", "agent")).rejects.toMatchObject({ code: "store_failed" });
    }
    const kept = [KEPT, `${KEPT}-2`, `${KEPT}-3`];
    expect(await Promise.all(kept.map((name) => readFile(join(folderOf("team"), name), "utf8")))).toEqual([
      "one",
      "two",
      "three",
    ]);
    await manager.delete("team", "agent");
    expect((await readdir(folderOf("team"))).sort()).toEqual([".lock", ...kept]);
  });

  it("is written over by a save, as every file is", async () => {
    await manager.save("team", "agent", memoryOf("x"));
    await writeFile(fileOf("team", "agent"), "{");
    await manager.save("team", "agent", memoryOf("y"));
    expect(await loaded("agent")).toEqual(["y"]);
  });
});

describe("a lock that another holds", () => {
  let other: Database;

  beforeEach(async () => {
    await manager.save("team", "agent", memoryOf("old"));
    other = openDatabase(join(folderOf("team"), ".lock"), false);
    other.exec("BEGIN EXCLUSIVE");
  });
  afterEach(() => other.close());

  it("makes saves and deletions wait, and fail with `busy` when it lasts; loads do not need it", async () => {
    const hurried = new MemoryManager(base, { busyTimeoutMs: 40 });
    const path = join(folderOf("team"), ".lock");
    const refused = await Promise.allSettled([
      hurried.save("team", "agent", memoryOf("new")),
      hurried.save("team", "other", memoryOf("new")),
      hurried.delete("team", "third"),
    ]);
    expect(refused).toMatchObject(
      refused.map(() => ({ status: "rejected", reason: { code: "busy", details: { path } } })),
    );
    expect(await loaded("agent")).toEqual(["old"]);
    expect(await loaded("other")).toBeUndefined();
  });

  it("lets them go on when it is freed", async () => {
    const saved = manager.save("team", "agent", memoryOf("new"));
    await new Promise(setImmediate);
    other.exec("COMMIT");
    await saved;
    expect(await loaded("agent")).toEqual(["new"]);
  });
});

describe("a base", () => {
  it("that is no folder, or no path at all, is refused", async () => {
    await writeFile(join(root, "file"), "");
    const misplaced = new MemoryManager(join(root, "file"));
    await expect(misplaced.save("team", "agent", memoryOf("x"))).rejects.toMatchObject({ code: "store_failed" });
    expect(() => new MemoryManager("")).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(() => new MemoryManager(base, { busyTimeoutMs: -1 })).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });
});
