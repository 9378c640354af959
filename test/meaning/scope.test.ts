/** Isolation in search by meaning: no level returns items outside the question's spaces and filter. */
import type { Memory } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const said = (content: string) => ({ role: "user" as const, content });

/** Brings what was added to a level. */
const LEVELS: readonly (readonly [level: string, bring: (memory: Memory, items: number) => Promise<unknown>])[] = [
  ["round", async () => undefined],
  ["hybrid", async (memory, items) => until(() => memory.service.buffers.hybrid?.itemCount === items)],
  ["store", async (memory) => memory.flush()],
];

const opened = (level: string) =>
  open({
    path: ":memory:",
    clock: new FakeClock(),
    embedder: new MirrorEmbedder(),
    buffer: { roundBuffer: { eager: level !== "round" }, hybridBuffer: { maxSize: 1000 } },
  });

describe.each(LEVELS)("in the level %s", (level, bring) => {
  it("users and sessions that take turns never see each other's", async () => {
    const memory = await opened(level);
    for (let round = 0; round < 6; round++) {
      await memory.session({ user: "ada", session: "s" }).add([said(`ada likes kettle number ${round}`)]);
      await memory.session({ user: "bob", session: "s" }).add([said(`bob likes kettle number ${round}`)]);
      await memory.session({ user: "ada", session: "t" }).add([said(`ada also likes kettle number ${round}`)]);
    }
    await bring(memory, 18);
    for (const question of ["likes kettle", mirrored("likes kettle")]) {
      const ada = await memory.session({ user: "ada", session: "s" }).query(question, { topK: 50 });
      expect(ada).toHaveLength(12);
      expect(
        ada.every(({ space, content }) => "user" in space && space.user === "ada" && content.startsWith("ada")),
      ).toBe(true);
      expect(ada.filter(({ scope }) => scope === "in_session").map(({ session }) => session)).toEqual(
        Array.from({ length: 6 }, () => "s"),
      );
      const bob = await memory.session({ user: "bob" }).query(question, { topK: 50 });
      expect(bob.map(({ content }) => content.slice(0, 3))).toEqual(Array.from({ length: 6 }, () => "bob"));
      expect(await memory.session({ user: "eve" }).query(question, { topK: 50 })).toHaveLength(0);
      expect(await memory.session({ agent: "ada" }).query(question, { topK: 50 })).toHaveLength(0);
    }
  });

  it("filters apply", async () => {
    const memory = await opened(level);
    const ada = memory.session({ user: "ada", agent: "tutor", session: "s" });
    await ada.add([
      { ...said("blue kettle one"), metadata: { room: "kitchen" } },
      { role: "assistant", content: "blue kettle two", occurredAt: "2020-01-01T00:00:00Z" },
    ]);
    await memory.session({ user: "ada", session: "t" }).add([{ ...said("blue kettle three"), tier: "semantic" }]);
    await memory.session({ user: "ada" }).addItems([{ kind: "knowledge", content: "blue kettle four" }]);
    await bring(memory, 4);
    const numbers = async (options: Parameters<typeof ada.query>[1]) =>
      (await ada.query(mirrored("blue kettle"), options)).map(({ content }) => content.split(" ")[2]).sort();
    expect(await numbers({})).toEqual(["four", "one", "three", "two"]);
    expect(await numbers({ within: "session" })).toEqual(["one", "two"]);
    expect(await numbers({ within: "agent" })).toEqual(["one", "two"]);
    expect(await numbers({ session: "t" })).toEqual(["three"]);
    expect(await numbers({ role: "assistant" })).toEqual(["two"]);
    expect(await numbers({ kind: "knowledge" })).toEqual(["four"]);
    expect(await numbers({ tier: "semantic" })).toEqual(["three"]);
    expect(await numbers({ metadata: { room: "kitchen" } })).toEqual(["one"]);
    expect(await numbers({ to: "2021-01-01T00:00:00Z" })).toEqual(["two"]);
  });

  it("a filter finds what it lets through behind any number of nearer messages", async () => {
    const memory = await opened(level);
    const many = Array.from({ length: 100 }, (_, at) => said(`blue kettle ${at}`));
    await memory.session({ user: "ada", session: "far" }).add([said("blue kettle, says a rather long sentence")]);
    await memory.session({ user: "ada", session: "near" }).add(many);
    await bring(memory, 101);
    const hits = await memory.session({ user: "ada", session: "far" }).query(mirrored("blue kettle"), {
      within: "session",
      topK: 5,
    });
    // In the level round only the newest of all are embedded for the question; those the filter lets through are.
    expect(hits.map(({ session }) => session)).toEqual(["far"]);
  });

  it("scores do not depend on what others say", async () => {
    const memory = await opened(level);
    const ada = memory.session({ user: "ada", session: "s" });
    await ada.add([said("blue kettle"), said("green lamp"), said("the kettle is in the kitchen")]);
    await bring(memory, 3);
    const alone = (await ada.query(mirrored("kettle kitchen"))).map(({ id, score }) => [id, score]);
    const bob = memory.session({ user: "bob", session: "s" });
    await bob.add(Array.from({ length: 30 }, (_, at) => said(`kettle kitchen ${at}`)));
    await bring(memory, 33);
    expect((await ada.query(mirrored("kettle kitchen"))).map(({ id, score }) => [id, score])).toEqual(alone);
  });

  it("a deleted id that is used again is never answered with its old meaning", async () => {
    const memory = await opened(level);
    const ada = memory.session({ user: "ada", session: "s" });
    await ada.add([
      { ...said("blue kettle"), id: "mine" },
      { ...said("a kettle, red or green or white"), id: "other" },
    ]);
    await bring(memory, 2);
    expect((await ada.query(mirrored("blue kettle")))[0]?.id).toBe("mine");
    await ada.delete(["mine"]);
    await ada.add([{ ...said("yellow boat"), id: "mine" }]);
    expect((await ada.query(mirrored("blue kettle"))).map(({ id }) => id)).toEqual(["other", "mine"]);
    expect((await ada.query(mirrored("yellow boat")))[0]).toMatchObject({ id: "mine", content: "yellow boat" });
  });

  it("a renamed user keeps their memory, and the next user of the old name sees none of it", async () => {
    const memory = await opened(level);
    await memory.session({ user: "ada", session: "s" }).add([said("blue kettle"), said("green lamp")]);
    await bring(memory, 2);
    await memory.session({ user: "ada", session: "s" }).query(mirrored("blue kettle"));
    await memory.users.rename("ada", "bea");
    const bea = memory.session({ user: "bea", session: "s" });
    expect((await bea.query(mirrored("blue kettle")))[0]?.content).toBe("blue kettle");
    const ada = memory.session({ user: "ada", session: "s" });
    await ada.add([said("yellow boat")]);
    expect((await ada.query(mirrored("blue kettle"))).map(({ content }) => content)).toEqual(["yellow boat"]);
    await memory.flush();
    expect((await ada.query(mirrored("blue kettle"))).map(({ content }) => content)).toEqual(["yellow boat"]);
    expect((await bea.query(mirrored("green lamp")))[0]?.content).toBe("green lamp");
    await until(async () => (await memory.flush()).pending === 0);
    expect((await bea.query(mirrored("green lamp")))[0]).toMatchObject({ content: "green lamp", level: "store" });
  });
});
