/**
 * Signatures in the logs of blocks and promotions: names that follow the registry, and are removed with their entries.
 */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import { log, put } from "./block-editor.js";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, type Probe } from "./probe.js";

const CREW: SpaceRef = { team: "crew" };
const TUTOR: SpaceRef = { agent: "tutor" };

/** Four edits of a block of the crew and three promotions to it, signed in every way. */
async function fill(probe: Probe): Promise<void> {
  await probe.add(ADA, [{ id: "a" }]);
  await probe.add(BOB, [{ id: "b" }, { id: "c" }]);
  await probe.add(TUTOR, [{ id: "t" }]);
  for (const [at, actor] of ["user ada", "agent tutor", "ada", "user bob"].entries()) {
    await put(probe, "plan", at, { space: CREW, actor });
  }
  await new FactProbe(probe, ADA).promote(["a"], CREW, { actor: "user ada" });
  await new FactProbe(probe, BOB).promote(["b"], CREW, { actor: "ada" });
  await new FactProbe(probe, BOB).promote(["c"], CREW, { actor: "user bob" });
}

/** Oldest first. */
async function actorsIn(probe: Probe): Promise<{ readonly edits: unknown[]; readonly promotions: unknown[] }> {
  const promotions = await new FactProbe(probe, CREW).promotions();
  return {
    edits: (await log(probe, "plan", CREW)).map(({ actor }) => actor).toReversed(),
    promotions: promotions.map(({ actor }) => actor).toReversed(),
  };
}

export function actors(check: Check): void {
  check("are removed from the logs of other spaces when they are forgotten, and no others are", async (probe) => {
    await fill(probe);
    await probe.forget({ space: ADA, entry: true });
    expect(await actorsIn(probe)).toEqual({
      edits: [undefined, "agent tutor", undefined, "user bob"],
      promotions: [undefined, undefined, "user bob"],
    });
    expect((await log(probe, "plan", CREW))[3]).not.toHaveProperty("actor");
    await probe.forget({ space: TUTOR, entry: true });
    expect((await actorsIn(probe)).edits).toEqual([undefined, undefined, undefined, "user bob"]);
    expect(
      (await log(probe, "plan", CREW)).map(({ new: text }) => text),
      "the edits stay",
    ).toHaveLength(4);
  });

  check("stay while only the items of their space are forgotten", async (probe) => {
    await fill(probe);
    const before = await actorsIn(probe);
    await probe.forget({ space: ADA, entry: false });
    expect(await actorsIn(probe)).toEqual(before);
  });

  check("follow a rename, so that a forget under the new name finds them", async (probe) => {
    await fill(probe);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    await probe.amend({ kind: "agent", name: "tutor" }, { name: "coach" });
    expect(await actorsIn(probe)).toEqual({
      edits: ["user lovelace", "agent coach", "ada", "user bob"],
      promotions: ["user lovelace", "ada", "user bob"],
    });
    await probe.add(ADA, [{ id: "another ada" }]);
    await put(probe, "plan", 4, { space: CREW, actor: "user ada" });
    await probe.forget({ space: { user: "lovelace" }, entry: true });
    expect(await actorsIn(probe)).toEqual({
      edits: [undefined, "agent coach", "ada", "user bob", "user ada"],
      promotions: [undefined, "ada", "user bob"],
    });
  });

  check("are unchanged after a forget or a rename that is undone", async (probe) => {
    await fill(probe);
    const before = await actorsIn(probe);
    const undone = { op: "revoke_key", id: "none" } as const;
    await probe.fails("not_found", { op: "amend", entry: { kind: "user", name: "ada" }, name: "eve" }, undone);
    await probe.fails("not_found", { op: "forget", target: { space: BOB, entry: true } }, undone);
    expect(await actorsIn(probe)).toEqual(before);
  });
}
