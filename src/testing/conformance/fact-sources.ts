/** The sources of facts: messages, sessions, other facts, the host; and what remains when one is removed. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, SECOND, START } from "./probe.js";

const ALL = { states: ["holds", "ended", "retracted"] } as const;

export function factSources(check: Check): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("may have a message as its source that is visible in the same space", async (facts) => {
    const { probe } = facts;
    await probe.add(BOB, [{ id: "his" }]);
    await probe.add(ADA, [{ id: "old", expiresAt: START + SECOND }]);
    probe.now = START + SECOND;
    for (const message of ["nobody", "his", "old"]) {
      const error = await probe.fails("not_found", facts.putting("porto", { source: { message } }));
      expect(error.details).toMatchObject({ id: message });
    }
    const elsewhere = new FactProbe(probe, { team: "new" });
    await probe.fails("not_found", elsewhere.putting("porto", { source: { message: "his" } }));
    expect(await probe.names("team")).toEqual([]);
    await facts.put("rome");
    await facts.end("rome");
    await probe.fails("not_found", facts.putting("porto", { source: { message: "rome" } }));
    expect(await facts.ids(ALL)).toEqual(["rome"]);
  });

  checkFacts("takes the session of a source from its message, and registers one that is new", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await probe.add(ADA, [{ id: "free" }]);
    await facts.put("a", { source: { message: "m", session: "other" } });
    await facts.put("b", { source: { message: "free", session: "other" } });
    expect(await facts.query()).toMatchObject([
      { sources: [{ message: "m", session: "s" }] },
      { sources: [{ message: "free" }] },
    ]);
    expect((await facts.fact("b")).sources).toEqual([{ message: "free" }]);
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
    await facts.put("c", { source: { session: "new" }, agent: "tutor" });
    const { items } = await probe.store.sessions({ kind: "session", space: ADA, name: "new", limit: 1 });
    expect(items).toMatchObject([{ name: "new", agent: "tutor" }]);
  });

  checkFacts("takes facts without another source with it, recursively", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }, { id: "n" }]);
    await facts.put("a", { source: { message: "m" } });
    await facts.put("b", { source: { message: "a" } });
    await facts.put("c", { source: { message: "b" } });
    await facts.put("c", { source: { message: "a" } });
    await facts.put("kept", { source: { message: "c" } });
    await facts.put("kept", { source: { message: "n" } });
    expect((await facts.fact("b")).sources).toEqual([{ message: "a" }]);
    await facts.end("b");
    expect((await facts.fact("c")).sources, "an end is no forgetting").toEqual([{ message: "b" }, { message: "a" }]);
    await facts.put("b", { source: { message: "a" } });
    const gone = await facts.forgetIds("m");
    expect(gone).toMatchObject({ items: 4, facts: 3, factsLeft: ["kept"] });
    expect(await facts.ids(ALL)).toEqual(["kept"]);
    expect((await facts.fact("kept")).sources).toEqual([{ message: "n" }]);
  });

  checkFacts("cannot be its own source, directly or indirectly", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }]);
    await facts.put("a", { source: { message: "m" } });
    await facts.put("b", { source: { message: "a" } });
    await facts.put("c", { source: { message: "b" } });
    for (const message of ["a", "b", "c"]) {
      await probe.fails("invalid_input", facts.putting("a", { source: { message } }));
    }
    await facts.put("c", { source: { message: "a" } });
    expect(await facts.forgetIds("m")).toMatchObject({ items: 4, facts: 3 });
  });

  checkFacts("stays while it has another source, in whatever order its sources are removed", async (facts) => {
    const { probe } = facts;
    const grounds = [{ message: "m" }, { message: "n" }, { session: "s" }] as const;
    const forget = (ground: { message?: string; session?: string }) =>
      ground.message === undefined
        ? facts.forget({ space: ADA, session: "s", entry: false })
        : facts.forgetIds(ground.message);
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [0, 2, 1],
      [1, 0, 2],
      [2, 0, 1],
    ] as const) {
      await probe.add(ADA, [{ id: "m" }, { id: "n" }]);
      for (const source of grounds) await facts.put("porto", { source });
      expect((await facts.fact("porto")).sources).toEqual(grounds);
      const [first, second, last] = order.map((at) => grounds[at] as (typeof grounds)[number]);
      for (const ground of [first, second]) {
        const { version } = await facts.fact("porto");
        const left = await forget(ground as (typeof grounds)[number]);
        expect(left).toMatchObject({ facts: 0, factsLeft: ["porto"] });
        expect(await facts.fact("porto")).toMatchObject({ version: version + 1, state: "holds" });
      }
      expect((await facts.fact("porto")).sources).toEqual([last]);
      expect(await probe.ids(ADA, { filter: { kinds: ["fact"] } })).toEqual(["porto"]);
      const gone = await forget(last as (typeof grounds)[number]);
      expect(gone).toMatchObject({ facts: 1, factsLeft: [] });
      expect(await facts.ids(ALL)).toEqual([]);
      expect(await probe.ids(ADA)).toEqual([]);
    }
  });

  checkFacts("stays if the host is a source, whatever else is forgotten", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await facts.put("porto", { source: { message: "m" } });
    await facts.put("porto");
    expect((await facts.fact("porto")).sources).toEqual([{ message: "m", session: "s" }, {}]);
    const left = await facts.forget({ space: ADA, session: "s", entry: true });
    expect(left).toMatchObject({ items: 1, facts: 0, factsLeft: ["porto"], sessions: 1 });
    expect((await facts.fact("porto")).sources).toEqual([{}]);
  });

  checkFacts("gets no source from a failed unit", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await facts.put("known");
    for (const source of [{ message: "m" }, { session: "s" }]) {
      const puts = ["known", "new"].map((id) => facts.putting(id, { source }));
      await probe.fails("not_found", ...puts, facts.ending("nobody"));
    }
    await facts.put("new");
    const gone = await facts.forget({ space: ADA, session: "s", entry: true });
    expect(gone).toMatchObject({ items: 1, facts: 0, factsLeft: [] });
    expect(await facts.query()).toMatchObject([
      { id: "known", version: 1, sources: [{}] },
      { id: "new", version: 1, sources: [{}] },
    ]);
  });
}
