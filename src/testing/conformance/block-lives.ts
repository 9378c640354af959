/** Memory blocks over time: any text, forgetting, renamed spaces, other handles. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import { blockNames, forgetBlock, log, put, putting } from "./block-editor.js";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, DAY, type Probe } from "./probe.js";

const TEXTS: readonly string[] = [
  " ",
  "one\r\ntwo\n\n\tthree\u2028four",
  "family 👩‍👩‍👧‍👦, flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿, 𠮷野家, \u202Eاليمين\u202C",
  "Zoe\u0308 \uFEFF\u200B \uFFFD \uFFFE \u{10FFFF} bell\u0007",
  `'"\`\\ %_* ; -- /* $1 ? :a @b {"json": [1]} \\u0041`,
];

export function blockLives(check: Check, checkPersistent: CheckPersistent): void {
  check("keeps any text, and large texts", async (probe) => {
    const huge = "Ärger 👩‍👧 ".repeat(100_000);
    for (const [at, text] of [...TEXTS, huge].entries()) {
      const id = at === TEXTS.length ? "huge" : text;
      const all = { name: id, description: text, counter: text, reason: text, actor: text };
      await put(probe, id, 0, { ...all, content: text });
      await put(probe, id, 1, { ...all, content: "" });
      await put(probe, id, 2, { ...all, content: text });
      const [block] = await probe.store.blocks({ spaces: [ADA], names: [id], ids: [id] });
      expect(block).toMatchObject({ id, name: id, content: text, description: text, counter: text, version: 3 });
      const edits = await log(probe, id);
      expect(edits.map((edit) => [edit.old, edit.new])).toEqual([
        ["", text],
        [text, ""],
        ["", text],
      ]);
      expect(edits).toMatchObject(edits.map(() => ({ name: id, reason: text, actor: text })));
    }
    const long = "👩‍👧".repeat(100);
    await put(probe, long, 0, { space: BOB });
    expect(await blockNames(probe, BOB)).toEqual([long]);
  });

  check("forgets a block with all its versions, and nothing else", async (probe) => {
    await probe.add(ADA, [{ id: "b", content: "lamp" }]);
    await put(probe, "b", 0, { name: "mine" });
    await put(probe, "b", 1, { name: "mine" });
    await put(probe, "c", 0);
    await put(probe, "b", 0, { space: BOB });
    expect(await forgetBlock(probe, "b")).toMatchObject({ blocks: 1, items: 0, entries: 0, remaining: false });
    expect(await forgetBlock(probe, "b")).toMatchObject({ blocks: 0, items: 0, entries: 0, remaining: false });
    expect(await forgetBlock(probe, "c", { user: "nobody" })).toMatchObject({ blocks: 0 });
    expect(await blockNames(probe, ADA, BOB)).toEqual(["c", "b"]);
    expect(await log(probe, "b")).toEqual([]);
    expect(await log(probe, "b", BOB)).toHaveLength(1);
    expect(await probe.ids(ADA), "an item of the same id").toEqual(["b"]);
    await probe.fails("not_found", putting("b", 2));
  });

  check("knows nothing of a forgotten block when its id and name are used again", async (probe) => {
    for (const version of [0, 1, 2])
      await put(probe, "b", version, { content: `secret ${version}`, description: "secret" });
    await forgetBlock(probe, "b");
    probe.now += DAY;
    const block = await put(probe, "b", 0);
    expect(block).toMatchObject({ version: 1, createdAt: probe.now, updatedAt: probe.now });
    expect(block).not.toHaveProperty("description");
    expect(await log(probe, "b")).toMatchObject([{ version: 1, old: "", new: "text 1" }]);
    await put(probe, "other", 0, { name: "name" });
    await probe.unit({ op: "forget", target: { space: ADA, block: "other" } }, putting("third", 0, { name: "name" }));
    expect(await blockNames(probe, ADA)).toEqual(["b", "name"]);
  });

  check("forgets the blocks of a space with the space, and no others", async (probe) => {
    const spaces: SpaceRef[] = [ADA, { agent: "ada" }, BOB];
    for (const space of spaces) {
      await probe.add(space, ["a message"], { session: "s" });
      for (const id of ["a", "b", "c"]) await put(probe, id, 0, { space });
    }
    await put(probe, "a", 1, { content: "secret" });
    expect(await probe.forget({ space: ADA, entry: false }), "when its entry stays").toMatchObject({ blocks: 0 });
    expect(await blockNames(probe, ADA)).toEqual(["a", "b", "c"]);
    expect(await probe.forget({ space: ADA, entry: true })).toMatchObject({ blocks: 3 });
    expect(await blockNames(probe, ADA)).toEqual([]);
    expect(await log(probe, "a")).toEqual([]);
    await probe.add(ADA, ["here again"]);
    expect(await blockNames(probe, ADA)).toEqual([]);
    await put(probe, "a", 0);
    expect(await log(probe, "a")).toHaveLength(1);
    expect(await blockNames(probe, ...spaces.slice(1))).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  check("keeps the blocks of a space when its items, its sessions or its history are forgotten", async (probe) => {
    await put(probe, "b", 0);
    await probe.add(ADA, [{ id: "b" }, { id: "y", expiresAt: probe.now + 1 }], { session: "s" });
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    await probe.forget({ space: ADA, ids: ["b"] });
    await probe.forget({ space: ADA, session: "s", entry: true });
    probe.now += 2 * DAY;
    await probe.forget({ expired: true });
    await probe.store.maintain(probe.now);
    expect(await blockNames(probe, ADA)).toEqual(["b"]);
    expect(await log(probe, "b")).toHaveLength(1);
  });

  check("keeps the blocks of a space when it is renamed", async (probe) => {
    await put(probe, "b", 0);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const space = { user: "lovelace" };
    expect(await blockNames(probe, ADA)).toEqual([]);
    expect(await log(probe, "b")).toEqual([]);
    expect(await put(probe, "b", 1, { space })).toMatchObject({ space });
    expect(await probe.store.blocks({ spaces: [space] })).toMatchObject([{ id: "b", space, version: 2 }]);
    await put(probe, "b", 0, { content: "of another ada" });
    expect(await log(probe, "b", space)).toMatchObject([{ new: "text 2" }, { new: "text 1" }]);
    expect(await log(probe, "b")).toHaveLength(1);
  });

  check("continues after a reopen where it was", async (probe) => {
    const before = await fill(probe);
    await probe.store.reopen();
    expect(await readAll(probe)).toEqual(before);
    await put(probe, "b", 2);
  });

  checkPersistent("finds every version after close and open", async (probe, reopen) => {
    const before = await fill(probe);
    await probe.store.close();
    const second = probe.on(await reopen());
    try {
      expect(await readAll(second)).toEqual(before);
      await second.fails("conflict", putting("b", 1));
      await put(second, "b", 2);
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("loses no edit of two concurrent handles", async (probe, reopen) => {
    await put(probe, "b", 0, { content: "0" });
    const second = probe.on(await reopen());
    try {
      for (let round = 1; round <= 20; round++) {
        const edits = [probe, second].map((handle, at) =>
          handle.commit([putting("b", round, { content: `${round} by ${at}` })]),
        );
        const outcomes = (await Promise.all(edits)).map((committed) => committed.outcomes[0]);
        expect(outcomes.filter((outcome) => outcome?.ok)).toHaveLength(1);
        const lost = { ok: false, error: { code: "conflict", details: { id: "b", version: round + 1 } } };
        expect(outcomes.find((outcome) => !outcome?.ok)).toMatchObject(lost);
      }
      const edits = (await log(second, "b")).toReversed();
      expect(edits).toHaveLength(21);
      let text = "";
      for (const edit of edits) {
        expect(edit.old).toBe(text);
        text = edit.new;
      }
      expect(await probe.store.blocks({ spaces: [ADA] })).toMatchObject([{ content: text, version: 21 }]);
      await forgetBlock(second, "b");
      expect(await blockNames(probe, ADA)).toEqual([]);
      await probe.fails("not_found", putting("b", 21));
    } finally {
      await second.store.close();
    }
  });
}

async function fill(probe: Probe) {
  await put(probe, "b", 0, { name: "old", description: "what it is", actor: "tutor" });
  await put(probe, "b", 1, { name: "new", policy: "manual", readOnly: true });
  await put(probe, "c", 0, { space: BOB });
  await put(probe, "gone", 0);
  await forgetBlock(probe, "gone");
  return readAll(probe);
}

async function readAll(probe: Probe) {
  return {
    blocks: await probe.store.blocks({ spaces: [ADA, BOB] }),
    logs: [await log(probe, "b"), await log(probe, "c", BOB), await log(probe, "gone")],
  };
}
