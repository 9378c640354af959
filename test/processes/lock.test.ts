/** Another program holds the file's write lock: this process keeps working, and each write is committed or refused. */
import { join } from "node:path";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { inFolder } from "../support/folder.js";
import { newPath, open } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const scope = { user: "ada", session: "monday" };
const ADDS = 50;

/** One process that holds the lock, and one that adds. */
function withLock(busyTimeoutMs: number, work: (files: Locked) => Promise<void>): Promise<void> {
  return inFolder((folder) =>
    withPeers(2, async ([adder, holder]) => {
      const path = join(folder, "memory.db");
      await adder?.call("open", { path, store: { busyTimeoutMs } });
      await holder?.call("lock", path);
      await work({ adder: adder as PeerProcess, holder: holder as PeerProcess });
      expect(unsoundness(path)).toEqual([]);
    }),
  );
}

/** Embeds nothing before `load` is called. */
class LateEmbedder extends MirrorEmbedder {
  readonly #loaded: Promise<void>;
  load = (): void => {};

  constructor() {
    super();
    this.#loaded = new Promise((resolve) => {
      this.load = resolve;
    });
  }

  override async describe(): ReturnType<MirrorEmbedder["describe"]> {
    await this.#loaded;
    return super.describe();
  }
}

interface Locked {
  readonly adder: PeerProcess;
  readonly holder: PeerProcess;
}

describe("a write lock held by another process", () => {
  it("holds up adds, not the event loop, and loses none of them", () =>
    withLock(600_000, async ({ adder, holder }) => {
      let answered = 0;
      const contents = Array.from({ length: ADDS }, (_, at) => `steady ${at}`);
      const adding = contents.map(async (content) => {
        const added = await adder.call("add", scope, [{ role: "user", content }]);
        answered++;
        return added.sequences;
      });
      // The lock is given back after these only: a process that stood still until then would answer none of them.
      for (let turn = 0; turn < 100; turn++) expect(await adder.call("list", scope)).toEqual([]);
      expect(answered).toBe(0);
      await holder.call("unlock");
      expect((await Promise.all(adding)).flat()).toEqual(contents.map((_, at) => at + 1));
      const items = await adder.call("list", scope);
      expect(items.map(({ content }) => content)).toEqual(contents);
    }));

  it("refuses adds with `busy` when it lasts too long, and writes nothing of them", () =>
    withLock(200, async ({ adder, holder }) => {
      const started = performance.now();
      const refused = await Promise.allSettled(
        ["one", "two", "three"].map((content) => adder.call("add", scope, [{ role: "user", content }])),
      );
      const waitedMs = performance.now() - started;
      expect(refused.map((result) => result.status === "rejected" && result.reason)).toMatchObject(
        Array(3).fill({ code: "busy", message: expect.stringContaining("200 ms") }),
      );
      expect(waitedMs).toBeGreaterThanOrEqual(200);
      await holder.call("unlock");
      expect(await adder.call("list", scope)).toEqual([]);
      const added = await adder.call("add", scope, [{ role: "user", content: "four" }]);
      expect(added.sequences).toEqual([1]);
      expect(await adder.call("query", scope, "one two three four")).toEqual(["four"]);
    }));

  it("fails no query and no other read, also on a file in which nothing is embedded yet", () =>
    withPeers(1, async ([holder]) => {
      const path = newPath();
      // By this clock no time passes: the query has all that it needs.
      const [clock, embedder] = [new FakeClock(), new LateEmbedder()];
      const memory = await open({ path, clock, embedder, store: { busyTimeoutMs: 100 } });
      const session = memory.session(scope);
      const { ids } = await session.add([{ role: "user", content: "blue kettle" }]);
      await holder?.call("lock", path);
      embedder.load();
      const hits = await session.query(mirrored("blue kettle"));
      expect([hits.degraded, hits.partial, hits[0]?.content]).toEqual([undefined, false, "blue kettle"]);
      const reads = {
        get: session.get(ids),
        list: session.list(),
        context: session.context({ query: "kettle", dryRun: true }),
        ledger: session.ledger(),
        blocks: session.blocks.list(),
        facts: session.facts.query("kettle"),
        parked: session.parked(),
        promotions: session.promotions(),
        conversation: session.conversation(),
        users: memory.users.list(),
        sessions: memory.sessions.list(),
        stats: memory.stats(),
      };
      const outcomes = await Promise.allSettled(Object.values(reads));
      const failed = Object.keys(reads).filter((_, at) => outcomes[at]?.status === "rejected");
      expect(failed).toEqual([]);
      expect((await memory.stats()).store.vectorSpace).toBeUndefined();
      await holder?.call("unlock");
      await until(async () => {
        clock.advance(1_000); // the pipeline has met the lock, and tries again after a while
        return (await memory.flush()).pending === 0;
      });
      expect((await memory.stats()).store).toMatchObject({ embedded: 1, vectorSpace: { dimensions: 512 } });
    }));
});
