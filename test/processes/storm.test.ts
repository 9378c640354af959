/** Ten real processes write, edit, forget and read on one file at once; another one follows what changes. */
import { join } from "node:path";
import { type SpaceVersion, SqliteStore } from "holdfast/stores";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { PeerProcess } from "./peer-process.js";
import { COUNTER, COUNTER_ID, SHARED, type Sight, USER } from "./storm.js";

const PROCESSES = 10;
const OPERATIONS = 40;

it("ten processes lose no update, share one sequence and see each other's writes at once, and who follows misses nothing", () =>
  inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const random = new Random(testSeed("storm"));
    const peers: PeerProcess[] = [];
    /** Whoever asks, some other process answers. */
    const onAsk = (asking: number) => (question: unknown) => {
      const other = (asking + random.between(1, PROCESSES - 1)) % PROCESSES;
      return (peers[other] as PeerProcess).call("see", question as Sight);
    };
    for (let index = 0; index < PROCESSES; index++) peers.push(new PeerProcess(onAsk(index)));
    try {
      const [first] = peers as [PeerProcess];
      await Promise.all(peers.map((peer) => peer.call("open", { path, store: { busyTimeoutMs: 60_000 } })));
      await first.call("add", COUNTER, [{ id: COUNTER_ID, role: "system", content: "0" }]);

      const storm = Promise.all(
        peers.map((peer, index) =>
          peer.call("storm", { index, seed: random.between(0, 2 ** 32 - 1), operations: OPERATIONS }),
        ),
      );
      const [logs, told] = await Promise.all([storm, follow(path, storm)]);

      expect(logs.flatMap(({ unseen }) => unseen)).toEqual([]);
      expect(logs.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(PROCESSES * OPERATIONS * 0.2);

      // Every place of the shared session was given once, in the order of each process's own adds.
      const sequences = logs.flatMap((log) => log.sequences).sort((a, b) => a - b);
      expect(sequences).toEqual(sequences.map((_, at) => at + 1));
      for (const log of logs) expect(log.sequences).toEqual([...log.sequences].sort((a, b) => a - b));

      // What is left of it has the places that were not deleted.
      const deleted = new Set(logs.flatMap((log) => log.deleted));
      const left = (await first.call("list", { user: USER, session: SHARED })).map(({ sequence }) => sequence);
      expect(left).toEqual(sequences.filter((sequence) => !deleted.has(sequence)));

      const [counter] = await first.call("list", COUNTER);
      const counted = logs.reduce((sum, log) => sum + log.counted, 0);
      expect([counter?.content, counter?.version]).toEqual([String(counted), counted + 1]);

      for (const { id, version } of await first.call("list", { user: USER }))
        expect([id, told.get(id)]).toEqual([id, version]);

      const views = await Promise.all(peers.map((peer) => peer.call("view")));
      expect(new Set(views).size).toBe(1);
      expect(unsoundness(path)).toEqual([]);
      await Promise.all(peers.map((peer) => peer.call("close")));
    } finally {
      await Promise.all(peers.map((peer) => peer.kill()));
    }
  }));

/** Follows the changes of the space until the work has ended, and a last time then; the newest version told of each item. */
async function follow(path: string, work: Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const store = await SqliteStore.open({ path, busyTimeoutMs: 60_000 });
  const told = new Map<string, number>();
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  try {
    for (let since: SpaceVersion | undefined, isLast = false; !isLast; ) {
      isLast = isOver;
      const [changes] = await store.changes([{ space: { user: USER }, since }]);
      expect(changes?.complete).toBe(true);
      expect(changes?.version?.version).toBeGreaterThanOrEqual(since?.version ?? 0);
      for (const { id, version } of changes?.changed ?? []) told.set(id, version);
      since = changes?.version;
    }
    await ended;
    return told;
  } finally {
    await store.close();
  }
}
