/** Two memories on one file, each with its own threads and connections, like two processes; then a real process. */
import { join } from "node:path";
import type { MemoryEvent } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { withPeers } from "../processes/peer-process.js";
import { inFolder } from "../support/folder.js";
import { newPath, open } from "../support/opened.js";
import { HashEmbedder } from "../support/product.js";
import { until } from "../support/until.js";

const ADA = { user: "ada" };
/** How often a listener looks at what others have written. */
const EVERY_MS = 250;
const say = (content: string) => [{ role: "user", content } as const];

describe("a listener on a file that others write", () => {
  it("gets their changes in its spaces, and those of this process once", async () => {
    const path = newPath();
    const [mine, other] = [await open({ path }), await open({ path })];
    const told: MemoryEvent[] = [];
    mine.events.subscribe((event) => told.push(event), { spaces: [ADA] });
    await mine.session(ADA).add(say("mine"));
    const { ids } = await other.session(ADA).add(say("theirs"));
    await other.session({ user: "bob" }).add(say("of no interest"));
    await until(() => told.some(({ type }) => type === "changed"));
    expect(told).toMatchObject([{ type: "added" }, { type: "changed", space: ADA, ids, removed: 0 }]);
    await other.session(ADA).delete(ids);
    await until(() => told.length === 3);
    expect(told[2]).toMatchObject({ type: "changed", ids: [], removed: 1 });
    await mine.forget(ADA);
    const again = await other.session(ADA).add(say("back again"));
    await until(() => told.length === 5);
    expect(told.slice(3)).toMatchObject([{ type: "forgotten" }, { type: "changed", ids: again.ids }]);
  });

  it("reports none of a storm of its own commits as another's", async () => {
    const path = newPath();
    const clock = new FakeClock();
    const mine = await open({ path, clock, embedder: new HashEmbedder() });
    const told: MemoryEvent[] = [];
    mine.events.subscribe((event) => told.push(event), { spaces: [ADA] });
    const ids = new Set<string>();
    for (let round = 0; round < 40; round++) {
      const adding = Promise.all(
        ["a", "b", "c"].map((session) => mine.session({ ...ADA, session }).add(say("a lamp in a storm"))),
      );
      clock.advance(EVERY_MS); // it looks for what others did while this is written
      for (const one of await adding) for (const id of one.ids) ids.add(id);
    }
    await mine.flush();
    const of = (type: MemoryEvent["type"]) =>
      told.flatMap((event) => (event.type === type && "ids" in event ? event.ids : []));
    expect(told.filter(({ type }) => type === "changed")).toEqual([]);
    for (const type of ["added", "transferred", "flushed"] as const) {
      expect(new Set(of(type)), type).toEqual(ids);
      expect(of(type), type).toHaveLength(ids.size);
    }
  });

  it("gets the writes of a real process", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      await withPeers(1, async ([peer]) => {
        const mine = await open({ path });
        await peer?.call("open", { path });
        const stream = mine.events.stream({ spaces: [ADA] });
        const added = await peer?.call("add", ADA, say("from afar"));
        const { value } = await stream.next();
        expect(value).toMatchObject({ type: "changed", space: ADA, ids: added?.ids });
        await mine.close();
      });
    });
  });
});
