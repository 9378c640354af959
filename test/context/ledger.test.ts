/** The model's window according to the ledger in the file: across restarts, crashes, resets and other processes. */
import { join } from "node:path";
import type { Context, Memory } from "holdfast";
import { describe, expect, it } from "vitest";
import { PeerProcess, withPeers } from "../processes/peer-process.js";
import { inFolder } from "../support/folder.js";
import { newPath, open } from "../support/opened.js";

const EARLIER = { user: "ada", session: "earlier" };
const NOW = { user: "ada", session: "now" };
const SAID = [
  { id: "m1", role: "user", content: "I moved to Lisbon in May." },
  { id: "m2", role: "user", content: "My sister lives in Lisbon too." },
] as const;
/** In another session: neighbours are found together. */
const PETS = { user: "ada", session: "pets" };
const CAT = [{ id: "m3", role: "user", content: "The cat is called Tusk." }] as const;
/** With all the time that a busy machine may need: what is not read by the deadline is left out. */
const IN_TIME = { deadlineMs: 600_000 };
const LISBON = { query: "Lisbon", ...IN_TIME };

const ids = (items: readonly { readonly id: string }[]): readonly string[] => items.map(({ id }) => id).toSorted();

async function filled(path = ":memory:"): Promise<Memory> {
  const memory = await open({ path });
  await memory.session(EARLIER).add(SAID);
  await memory.session(PETS).add(CAT);
  return memory;
}

describe("the window", () => {
  it("is known after a restart: nothing is given twice, and new items are given", async () => {
    const path = newPath();
    const memory = await filled(path);
    expect(ids((await memory.session(NOW).context(LISBON)).added)).toEqual(["m1", "m2"]);
    await memory.close();

    const again = await open({ path });
    const second = await again.session(NOW).context(LISBON);
    expect(second).toMatchObject({ tail: "", added: [], changed: [], retracted: [] });
    expect(second.tokens.saved).toBeGreaterThan(10);
    await again.session(EARLIER).add([{ id: "m4", role: "user", content: "Lisbon is loud." }]);
    expect(ids((await again.session(NOW).context(LISBON)).added)).toEqual(["m4"]);
  });

  it("is known after a process was killed between two contexts, repeatedly", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      const given: string[] = [];
      for (let life = 1; life <= 3; life++) {
        const peer = new PeerProcess();
        await peer.call("open", { path });
        await peer.call("add", EARLIER, [
          { id: `life${life}`, role: "user", content: `Lisbon, for the ${life}. time` },
        ]);
        given.push(...ids((await peer.call("context", NOW, LISBON)).added));
        await peer.kill();
      }
      expect(given).toEqual(["life1", "life2", "life3"]);
      const memory = await open({ path });
      expect(await memory.session(NOW).context(LISBON)).toMatchObject({ tail: "", added: [] });
    });
  });

  it("is empty after windowReset, and the windows of other sessions are unchanged", async () => {
    const memory = await filled();
    const [one, other] = [memory.session(NOW), memory.session({ user: "ada", session: "other" })];
    const first = await one.context(LISBON);
    await other.context(LISBON);
    await one.windowReset();
    expect(await one.context(LISBON)).toMatchObject({ tail: first.tail, added: first.added });
    expect((await other.context(LISBON)).added).toEqual([]);
  });

  it("is removed with its session", async () => {
    const memory = await filled();
    const first = await memory.session(NOW).context(LISBON);
    expect((await memory.session(NOW).context(LISBON)).tail).toBe("");
    await memory.session(NOW).forget();
    expect((await memory.session(NOW).context(LISBON)).tail).toBe(first.tail);
  });

  it("is given nothing twice by concurrent processes", async () => {
    await inFolder((folder) =>
      withPeers(3, async (peers) => {
        const [first] = peers;
        const path = join(folder, "memory.db");
        for (const peer of peers) await peer.call("open", { path });
        for (let round = 1; round <= 12; round++) {
          const said = Array.from({ length: 4 }, (_, at) => ({
            id: `r${round}m${at}`,
            role: "user" as const,
            content: `Lisbon, remark ${at} of round ${round}`,
          }));
          await first?.call("add", EARLIER, said);
          const contexts = await Promise.all(
            peers.map((peer) => peer.call("context", NOW, { ...LISBON, topK: 100, deadlineMs: 60_000 })),
          );
          expect(ids(contexts.flatMap(({ added }) => added))).toEqual(ids(said));
          expect(contexts.map(({ degraded }) => degraded)).toEqual([undefined, undefined, undefined]);
        }
      }),
    );
  });

  it("is corrected once about what another process has edited, deleted and superseded, for any question", async () => {
    await inFolder((folder) =>
      withPeers(2, async ([reader, writer]) => {
        if (!reader || !writer) throw new Error("two processes were asked for");
        const options = { path: join(folder, "memory.db") };
        await reader.call("open", options);
        await writer.call("open", options);
        await reader.call("add", EARLIER, SAID);
        await reader.call("add", PETS, CAT);
        const home = { category: "home", content: "Ada's flat is in Lisbon" };
        const old = await reader.call("upsertFact", EARLIER, home);
        const first = await reader.call("context", NOW, LISBON);
        expect(ids(first.added)).toEqual([old, "m1", "m2"].toSorted());

        await writer.call("update", EARLIER, "m1", "I moved to Porto in May.");
        await writer.call("delete", EARLIER, ["m2"]);
        const porto = { category: "home", content: "Ada's flat is in Porto", supersedes: old };
        await writer.call("upsertFact", EARLIER, porto);

        const second = await reader.call("context", NOW, { query: "the cat Tusk" });
        expect(ids(second.changed)).toEqual(["m1"]);
        expect(ids(second.retracted)).toEqual([old, "m2"].toSorted());
        expect(ids(second.added)).toEqual(["m3"]);
        expect(second.tail).toMatch(/^\[message m1 user .* replaces its earlier text\]\n> I moved to Porto in May\.$/m);
        expect(second.tail).toContain("[message m2 no longer holds: disregard it]");
        expect(second.tail).toContain(`[fact ${old.slice(-8)} no longer holds: disregard it]`);
        expect(second.tail).not.toMatch(/Lisbon|sister/);

        const third = await reader.call("context", NOW, { query: "the cat Tusk" });
        expect(third).toMatchObject({ tail: "", added: [], changed: [], retracted: [] });
        expect(ids((await writer.call("context", NOW, { query: "Porto" })).added)).toHaveLength(1); // the new fact
      }),
    );
  });
});

describe("a context that is only looked at", () => {
  /** How many groups were committed: nothing was written while it stays the same. */
  const groupsOf = async (memory: Memory): Promise<number> => (await memory.stats()).write.totalGroups;

  it("with dryRun leaves no trace in the file, and reports what would be given", async () => {
    const memory = await filled();
    const session = memory.session(NOW);
    const groups = await groupsOf(memory);
    const looks: Context[] = [];
    for (let look = 0; look < 2; look++) looks.push(await session.context({ ...LISBON, dryRun: true }));
    expect(await groupsOf(memory)).toBe(groups);
    expect(looks[1]).toEqual(looks[0]);
    const real = await session.context(LISBON);
    expect(real).toEqual(looks[0]);
    expect(await groupsOf(memory)).toBe(groups + 1);
  });

  it("with fresh neither reads nor writes the ledger", async () => {
    const memory = await filled();
    const session = memory.session(NOW);
    const first = await session.context(LISBON);
    const groups = await groupsOf(memory);
    expect((await session.context({ ...LISBON, fresh: true })).tail).toBe(first.tail);
    expect(await groupsOf(memory)).toBe(groups);
    expect((await session.context(LISBON)).tail).toBe("");
  });
});
