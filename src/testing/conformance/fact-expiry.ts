/** Facts and time: expiry and retention apply to a fact as a whole. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, DAY, SECOND, START } from "./probe.js";

const ALL = { states: ["holds", "ended", "retracted"] } as const;

export function factExpiry(check: Check): void {
  const checkFacts = (title: string, body: (facts: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA)));

  checkFacts("is in no answer after its space's retention has passed, and is then removed for good", async (facts) => {
    const { probe } = facts;
    await facts.put("holds", { from: 10 });
    await facts.put("ended", { from: 10 });
    await facts.end("ended", 20);
    await facts.put("back", { from: 10 });
    await facts.end("back", 20);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    probe.now = START + SECOND;
    await facts.put("back", { from: 30 });
    probe.now = START + DAY - 1;
    expect(await facts.ids(ALL)).toEqual(["holds", "ended", "back"]);
    expect(await facts.forget({ expired: true })).toMatchObject({ items: 0, facts: 0 });
    probe.now = START + DAY;
    expect(await facts.ids(ALL)).toEqual(["back"]);
    expect(await facts.ids({ asOf: 15 })).toEqual(["back"]);
    await probe.fails("not_found", facts.ending("holds"));
    await probe.fails("not_found", facts.ending("ended"));
    await facts.end("back", 40);
    expect(await facts.forget({ expired: true })).toMatchObject({ items: 1, facts: 2 });
    probe.now = START + DAY + SECOND - 1;
    expect(await facts.ids(ALL)).toEqual(["back"]);
    probe.now += 1;
    expect(await facts.ids(ALL)).toEqual([]);
    expect(await facts.forget({ expired: true })).toMatchObject({ items: 0, facts: 1 });
    probe.now = START;
    expect(await facts.ids(ALL), "gone also for a clock that runs backwards").toEqual([]);
  });

  checkFacts("keeps the expiry of its item beyond its end", async (facts) => {
    const { probe } = facts;
    await facts.put("porto");
    await probe.update(ADA, "porto", { expiresAt: START + DAY });
    expect(await facts.ids({ now: START + DAY - 1 })).toEqual(["porto"]);
    expect(await facts.ids({ now: START + DAY })).toEqual([]);
    await facts.end("porto");
    await facts.put("porto");
    expect(await probe.item(ADA, "porto")).toMatchObject({ expiresAt: START + DAY });
    await facts.put("dependent", { source: { message: "porto" } });
    await facts.end("porto");
    probe.now = START + DAY - 1;
    expect(await facts.ids(ALL)).toEqual(["porto", "dependent"]);
    probe.now = START + DAY;
    expect(await facts.ids(ALL)).toEqual(["dependent"]);
    expect(await facts.forget({ expired: true })).toMatchObject({ items: 1, facts: 2 });
    expect(await facts.ids(ALL)).toEqual([]);
  });

  checkFacts("is removed with a message that expires, when that is swept or its id is reused", async (facts) => {
    const { probe } = facts;
    await probe.add(ADA, [
      { id: "m", expiresAt: START + SECOND },
      { id: "n", expiresAt: START + SECOND },
    ]);
    await facts.put("by m", { source: { message: "m" } });
    await facts.put("by n", { source: { message: "n" } });
    probe.now = START + SECOND;
    await probe.add(ADA, [{ id: "n", content: "another" }]);
    expect(await facts.ids(ALL)).toEqual(["by m"]);
    expect(await facts.forget({ expired: true })).toMatchObject({ items: 2, facts: 1 });
    expect(await probe.contents(ADA)).toEqual(["another"]);
  });

  checkFacts("frees its id when it has expired", async (facts) => {
    const { probe } = facts;
    for (const id of ["holds", "ended", "new message", "new ended"]) await facts.put(id);
    for (const id of ["ended", "new ended"]) await facts.end(id);
    await facts.put("brief");
    await probe.update(ADA, "brief", { expiresAt: START + 1 });
    probe.now = START + 1;
    await probe.add(ADA, [{ id: "brief", content: "a message" }]);
    expect(await facts.find("brief")).toBeUndefined();
    await facts.forgetIds("brief");
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    probe.now = START + SECOND;
    for (const id of ["holds", "ended"])
      expect(await facts.put(id)).toMatchObject({ outcome: "added", fact: { version: 1 } });
    await probe.add(ADA, [{ id: "new message" }, { id: "new ended" }]);
    expect(await facts.ids(ALL)).toEqual(["holds", "ended"]);
    expect(await probe.ids(ADA)).toHaveLength(4);
  });

  checkFacts("removes what rests on it when it is put again after it has expired", async (facts) => {
    const { probe } = facts;
    for (const ends of [false, true]) {
      await facts.put("a");
      await probe.update(ADA, "a", { expiresAt: probe.now + SECOND });
      await facts.put("b", { source: { message: "a" } });
      if (ends) await facts.end("a");
      probe.now += SECOND;
      await probe.fails("not_found", facts.putting("a", { supersedes: ["b"] }));
      await probe.fails("not_found", facts.putting("a", { source: { message: "b" } }));
      expect(await facts.ids(ALL), "nothing was written").toEqual(["b"]);
      expect(await facts.put("a")).toMatchObject({ outcome: "added", fact: { version: 1 } });
      expect(await facts.ids(ALL)).toEqual(["a"]);
      await facts.forgetIds("a");
    }
  });
}
