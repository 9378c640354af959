/** What a store counts: items of each kind, and blocks. */
import { expect } from "vitest";
import { forgetBlock, put, putting } from "./block-editor.js";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

export function counts(check: Check): void {
  check("counts the items of each kind, and facts while they hold", async (probe) => {
    expect(await counted(probe)).toEqual({ items: 0, kinds: NONE, blocks: 0 });
    const facts = new FactProbe(probe, ADA);
    await probe.add(ADA, ["one", "two", { id: "k", kind: "knowledge" }, { id: "o", kind: "overflow" }], {
      session: "s",
    });
    await probe.add(BOB, [{ id: "k", kind: "knowledge" }]);
    await facts.put("porto");
    await facts.put("lisbon");
    const kinds = { message: 2, knowledge: 2, fact: 2, overflow: 1 };
    expect(await counted(probe)).toEqual({ items: 7, kinds, blocks: 0 });
    await facts.end("porto");
    expect(await counted(probe)).toEqual({ items: 6, kinds: { ...kinds, fact: 1 }, blocks: 0 });
    await facts.put("porto");
    await probe.add(ADA, [{ id: "k", kind: "overflow" }], { session: "s", existing: "replace" });
    expect(await counted(probe)).toEqual({ items: 7, kinds: { ...kinds, knowledge: 1, overflow: 2 }, blocks: 0 });
    await probe.add(ADA, [{ id: "k" }], { session: "s", existing: "replace" });
    expect(await counted(probe)).toEqual({ items: 7, kinds: { ...kinds, message: 3, knowledge: 1 }, blocks: 0 });
    await probe.forget({ space: ADA, entry: true });
    expect(await counted(probe)).toEqual({ items: 1, kinds: { ...NONE, knowledge: 1 }, blocks: 0 });
  });

  check("counts blocks, not their versions", async (probe) => {
    for (const version of [0, 1, 2]) await put(probe, "persona", version);
    await put(probe, "notes", 0);
    await put(probe, "notes", 0, { space: BOB });
    expect(await counted(probe)).toEqual({ items: 0, kinds: NONE, blocks: 3 });
    await forgetBlock(probe, "persona");
    expect(await counted(probe)).toMatchObject({ blocks: 2 });
    await probe.forget({ space: BOB, entry: true });
    expect(await counted(probe)).toMatchObject({ blocks: 1 });
  });

  check("counts users, agents, teams and sessions until they are forgotten", async (probe) => {
    const entries = async () => {
      const { users, agents, teams, sessions } = await probe.store.stats();
      return { users, agents, teams, sessions };
    };
    expect(await entries()).toEqual({ users: 0, agents: 0, teams: 0, sessions: 0 });
    await probe.add(ADA, ["one"], { session: "s" });
    await probe.add(ADA, ["two"], { session: "t" });
    await probe.add(BOB, ["three"], { session: "s" });
    await probe.add({ agent: "guide" }, ["four"]);
    await probe.add({ team: "crew" }, ["five"], { session: "s" });
    expect(await entries()).toEqual({ users: 2, agents: 1, teams: 1, sessions: 4 });
    await probe.forget({ space: ADA, session: "s", entry: true });
    expect(await entries()).toEqual({ users: 2, agents: 1, teams: 1, sessions: 3 });
    await probe.forget({ space: ADA, entry: true });
    expect(await entries()).toEqual({ users: 1, agents: 1, teams: 1, sessions: 2 });
  });

  check("counts nothing of a unit that failed, and what has expired until it is removed", async (probe) => {
    const soon = { id: "k", kind: "knowledge", expiresAt: probe.now + SECOND } as const;
    await probe.fails("not_found", probe.adding(ADA, [{ id: "x", kind: "knowledge" }]), putting("b", 7));
    expect(await counted(probe)).toEqual({ items: 0, kinds: NONE, blocks: 0 });
    await probe.add(ADA, [soon]);
    probe.now += SECOND;
    expect(await counted(probe)).toMatchObject({ items: 1, kinds: { knowledge: 1 } });
    await probe.forget({ expired: true });
    expect(await counted(probe)).toEqual({ items: 0, kinds: NONE, blocks: 0 });
  });
}

const NONE = { message: 0, knowledge: 0, fact: 0, overflow: 0 };

async function counted({ store }: Probe) {
  const { items, kinds, blocks } = await store.stats();
  return { items, kinds, blocks };
}
