/** Memory blocks: each write is the next version of one block of one space, or nothing. */
import { expect } from "vitest";
import type { BlockState } from "../../stores/blocks.js";
import { blockNames, log, put, putting } from "./block-editor.js";
import type { Check } from "./check.js";
import { ADA, BOB, SECOND, START } from "./probe.js";

const CREW = { team: "crew" } as const;
/** Fails in every store. */
const FAILING = { op: "update", space: ADA, id: "never there", patch: {} } as const;

export function blocks(check: Check): void {
  check("keeps all of a new block, and registers its space", async (probe) => {
    const state: BlockState = {
      name: "persona",
      content: "Calm.\nBrief.",
      description: "who I am",
      maxTokens: 100,
      counter: "o200k",
      policy: "archive",
      readOnly: true,
    };
    const block = await put(probe, "b1", 0, { space: CREW, ...state, reason: "start", actor: "tutor" });
    expect(block).toEqual({ ...state, id: "b1", space: CREW, version: 1, createdAt: START, updatedAt: START });
    expect(await probe.store.blocks({ spaces: [CREW] })).toEqual([block]);
    expect(await log(probe, "b1", CREW)).toEqual([
      { version: 1, old: "", new: state.content, name: "persona", reason: "start", actor: "tutor", at: START },
    ]);
    expect(await probe.names("team")).toEqual(["crew"]);
    expect(await probe.names("agent"), "who did it is not registered for it").toEqual([]);
  });

  check("makes the next version with each edit, whatever it changes", async (probe) => {
    const first = await put(probe, "b", 0, { description: "old", policy: "manual" });
    probe.now += SECOND;
    const change = {
      name: "c",
      content: "new",
      maxTokens: 7,
      counter: "gpt",
      policy: "archive",
      readOnly: true,
    } as const;
    const second = await put(probe, "b", 1, change);
    expect(second).toEqual({ ...change, id: "b", space: ADA, version: 2, createdAt: START, updatedAt: probe.now });
    probe.now -= 2 * SECOND;
    const third = await put(probe, "b", 2, { ...change, description: "" });
    expect(third, "also when the clock has gone back").toEqual({
      ...second,
      description: "",
      version: 3,
      updatedAt: START - SECOND,
    });
    expect(first.version).toBe(1);
    expect(await probe.store.blocks({ spaces: [ADA] })).toEqual([third]);
  });

  check("creates a version for an edit that changes nothing", async (probe) => {
    await put(probe, "b", 0, { content: "same", reason: "" });
    await put(probe, "b", 1, { content: "same", reason: "" });
    expect(await log(probe, "b")).toEqual([
      { version: 2, old: "same", new: "same", name: "b", reason: "", at: START },
      { version: 1, old: "", new: "same", name: "b", reason: "", at: START },
    ]);
  });

  check("logs every version, newest first, as many as requested", async (probe) => {
    const versions = Array.from({ length: 40 }, (_, at) => 40 - at);
    for (const version of versions.toReversed()) await put(probe, "b", version - 1, { content: `line ${version}` });
    const edits = await log(probe, "b");
    expect(edits.map(({ version }) => version)).toEqual(versions);
    for (const edit of edits) {
      const old = edit.version === 1 ? "" : `line ${edit.version - 1}`;
      expect(edit).toMatchObject({ old, new: `line ${edit.version}`, reason: `edit ${edit.version}` });
      const one = { space: ADA, id: "b", limit: 3, version: edit.version };
      expect(await probe.store.blockLog(one)).toEqual([edit]);
    }
    expect(await probe.store.blockLog({ space: ADA, id: "b", limit: 3 })).toEqual(edits.slice(0, 3));
    expect(await probe.store.blockLog({ space: ADA, id: "b", limit: 1000 })).toEqual(edits);
    for (const version of [0, 41, -1]) {
      expect(await probe.store.blockLog({ space: ADA, id: "b", limit: 0, version })).toEqual([]);
    }
    expect(await log(probe, "another")).toEqual([]);
    expect(await log(probe, "b", { user: "nobody" })).toEqual([]);
  });

  check("logs a rename with both names, and no other edit", async (probe) => {
    await put(probe, "b", 0, { name: "one" });
    await put(probe, "b", 1, { name: "two" });
    await put(probe, "b", 2, { name: "two" });
    await put(probe, "b", 3, { name: "one" });
    expect((await log(probe, "b")).map(({ name, formerName }) => [formerName, name])).toEqual([
      ["two", "one"],
      [undefined, "two"],
      ["one", "two"],
      [undefined, "one"],
    ]);
    expect((await log(probe, "b"))[1]).not.toHaveProperty("formerName");
  });

  check("lets exactly one of several edits of one version win", async (probe) => {
    await put(probe, "b", 0);
    const units = Array.from({ length: 5 }, (_, at) => [putting("b", 1, { content: `from ${at}` })]);
    const { outcomes } = await probe.commit(...units);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, false, false, false]);
    for (const outcome of outcomes.slice(1)) {
      expect(outcome).toMatchObject({ error: { code: "conflict", details: { id: "b", version: 2 } } });
    }
    expect(await probe.store.blocks({ spaces: [ADA] })).toMatchObject([{ version: 2, content: "from 0" }]);
    expect(await log(probe, "b")).toHaveLength(2);
    for (const stale of [0, 1, 3, 99]) {
      const { details } = await probe.fails("conflict", putting("b", stale, { content: "late" }));
      expect(details).toEqual({ id: "b", version: 2 });
    }
    expect(await log(probe, "b")).toHaveLength(2);
  });

  check("accepts several edits of a block in one unit, one after the other", async (probe) => {
    await probe.unit(putting("b", 0), putting("b", 1), putting("b", 2, { name: "c" }), putting("d", 0, { name: "b" }));
    expect(await blockNames(probe, ADA)).toEqual(["b", "c"]);
    expect(await log(probe, "b")).toHaveLength(3);
    await probe.fails("conflict", putting("b", 3), putting("b", 3));
    expect(await log(probe, "b")).toHaveLength(3);
  });

  check("does not edit a block that does not exist, nor register a space for it", async (probe) => {
    expect((await probe.fails("not_found", putting("b", 1))).details).toEqual({ id: "b" });
    expect(await probe.names("user")).toEqual([]);
    await put(probe, "a", 0);
    expect((await probe.fails("not_found", putting("b", 1, { name: "a" }))).details).toEqual({ id: "b" });
    expect(await blockNames(probe, ADA)).toEqual(["a"]);
  });

  check("allows a name once per space", async (probe) => {
    await put(probe, "b", 0, { name: "persona" });
    await put(probe, "c", 0, { name: "human" });
    const taken = { name: "persona", id: "b" };
    expect((await probe.fails("conflict", putting("d", 0, { name: "persona" }))).details).toEqual(taken);
    expect((await probe.fails("conflict", putting("c", 1, { name: "persona" }))).details).toEqual(taken);
    expect(await log(probe, "c")).toHaveLength(1);
    const { outcomes } = await probe.commit([putting("x", 0, { name: "new" })], [putting("y", 0, { name: "new" })]);
    expect(outcomes).toMatchObject([{ ok: true }, { error: { code: "conflict", details: { name: "new", id: "x" } } }]);
    await put(probe, "b", 1, { name: "self" });
    await put(probe, "c", 1, { name: "persona" });
    await put(probe, "e", 0, { name: "human" });
    expect(await blockNames(probe, ADA)).toEqual(["human", "new", "persona", "self"]);
  });

  check("keeps names unchanged, and does not share them between spaces", async (probe) => {
    const names = ["n", "N", "n ", " n", "é", "e\u0301", "%", "_", "1", "01", "null", "__proto__", "ß", "ss"];
    for (const [at, name] of names.entries()) {
      for (const space of [ADA, BOB, { agent: "ada" }]) {
        await put(probe, `b${at}`, 0, { space, name, content: `${name} of ${JSON.stringify(space)}` });
      }
    }
    for (const name of names) {
      const [block, ...others] = await probe.store.blocks({ spaces: [BOB], names: [name] });
      expect(block).toMatchObject({ name, space: BOB, content: `${name} of {"user":"bob"}` });
      expect(others).toEqual([]);
    }
  });

  check("reads and writes no block of another space by its id or name", async (probe) => {
    await put(probe, "b", 0, { name: "secret" });
    await probe.add(BOB, ["something"]);
    await probe.fails("not_found", putting("b", 1, { space: BOB }));
    expect(await probe.store.blocks({ spaces: [BOB], ids: ["b"], names: ["secret"] })).toEqual([]);
    expect(await log(probe, "b", BOB)).toEqual([]);
    await put(probe, "b", 0, { space: BOB, name: "secret", content: "his" });
    await put(probe, "b", 1, { space: BOB, name: "secret", content: "his again" });
    expect(await probe.store.blocks({ spaces: [ADA] })).toMatchObject([{ space: ADA, content: "text 1", version: 1 }]);
    expect(await log(probe, "b")).toHaveLength(1);
  });

  check("reads in the order of the spaces, each once, then by name in code unit order", async (probe) => {
    const names = ["Z", "a", "aa", "é", "\u{1F600}", "\uFFFD"];
    for (const name of names.toReversed()) await put(probe, `id of ${name}`, 0, { name });
    await put(probe, "c", 0, { space: CREW });
    await probe.add(BOB, ["no block here"]);
    expect(await blockNames(probe, CREW, { user: "nobody" }, ADA, BOB, CREW)).toEqual(["c", ...names]);
    expect(await blockNames(probe, ADA, CREW)).toEqual([...names, "c"]);
    expect(await blockNames(probe)).toEqual([]);
  });

  check("reads the blocks of these names or ids", async (probe) => {
    for (const id of ["a", "b", "c"]) await put(probe, id, 0, { name: `name of ${id}` });
    await put(probe, "b", 0, { space: BOB, name: "c" });
    const read = async (wanted: { names?: string[]; ids?: string[] }) =>
      (await probe.store.blocks({ spaces: [BOB, ADA], ...wanted })).map(({ name }) => name);
    expect(await read({ names: ["name of c", "name of a", "none"] })).toEqual(["name of a", "name of c"]);
    expect(await read({ ids: ["b", "b", "name of a"] })).toEqual(["c", "name of b"]);
    expect(await read({ names: ["name of a", "name of b"], ids: ["b"] })).toEqual(["c", "name of a", "name of b"]);
    expect(await read({ names: [] })).toEqual([]);
    expect(await read({ names: [], ids: ["c"] })).toEqual(["name of c"]);
    expect(await read({ ids: [] })).toEqual([]);
  });

  check("writes nothing of a unit that fails at a block, or after one", async (probe) => {
    await put(probe, "b", 0);
    const read = async () => ({
      blocks: await probe.store.blocks({ spaces: [ADA, BOB] }),
      log: await log(probe, "b"),
      items: await probe.list([ADA, BOB]),
      users: await probe.names("user"),
      version: await probe.version(ADA),
      written: probe.written,
    });
    const before = await read();
    await probe.fails("conflict", probe.adding(ADA, ["a message"]), putting("b", 0, { content: "too late" }));
    await probe.fails("not_found", putting("b", 1, { name: "renamed" }), putting("c", 0, { name: "b" }), FAILING);
    await probe.fails("not_found", putting("b", 0, { space: BOB }), FAILING);
    await probe.fails("not_found", { op: "forget", target: { space: ADA, block: "b" } }, FAILING);
    expect(await read()).toEqual(before);
    await probe.unit(probe.adding(ADA, [{ id: "m" }]), putting("b", 1, { name: "renamed" }), putting("c", 0));
    expect(await blockNames(probe, ADA)).toEqual(["c", "renamed"]);
    expect(await probe.ids(ADA)).toEqual(["m"]);
  });

  check("counts an edit as a commit that changes no answer of its space", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s" });
    const read = async () => ({
      version: await probe.version(ADA),
      items: await probe.list(ADA),
      hits: await probe.search(ADA, "lamp"),
      changed: (await probe.changes(ADA)).changed,
      stored: (await probe.store.stats()).items,
    });
    const before = await read();
    const [written, nothing] = [
      { changed: true, versions: [] },
      { changed: false, versions: [] },
    ];
    expect(await probe.commit([putting("b", 0, { content: "lamp" })])).toMatchObject(written);
    expect(await probe.commit([putting("b", 1, { content: "lamp" })])).toMatchObject(written);
    expect(await probe.commit([putting("b", 1)]), "one that failed").toMatchObject(nothing);
    const forget = { op: "forget", target: { space: ADA, block: "b" } } as const;
    expect(await probe.commit([forget])).toMatchObject(written);
    expect(await probe.commit([forget]), "one that found nothing").toMatchObject(nothing);
    expect(await read()).toEqual(before);
    await probe.grows([BOB], () => put(probe, "b", 0, { space: BOB }), "a space that is new");
    await probe.store.commit([[putting("b", 1, { space: BOB })]], probe.now, "an edit");
    await probe.store.reopen();
    expect(await probe.store.wasCommitted("an edit")).toBe(true);
  });

  check("shares no objects with its callers", async (probe) => {
    const write = putting("b", 0);
    await probe.unit(write);
    Object.assign(write.state, { content: "changed behind its back" });
    const [block] = await probe.store.blocks({ spaces: [ADA] });
    const [edit] = await log(probe, "b");
    Object.assign(block ?? {}, { content: "changed behind its back", version: 9 });
    Object.assign(edit ?? {}, { new: "changed behind its back" });
    expect(await probe.store.blocks({ spaces: [ADA] })).toMatchObject([{ content: "text 1", version: 1 }]);
    expect(await log(probe, "b")).toMatchObject([{ new: "text 1" }]);
  });
}
