/**
 * Several processes embed on one file. Whoever has a lease may be stopped, killed or overtaken at the worst moment: with
 * items that it has embedded and not written. Nothing may come of it: no vector twice, none of an old text, none missing.
 */
import { join } from "node:path";
import type { OpenOptions } from "holdfast";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";
import { auditVectors } from "../support/vectors.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const scope = { user: "ada", session: "monday" };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

type HybridBuffer = NonNullable<NonNullable<OpenOptions["buffer"]>["hybridBuffer"]>;

/** Embeds at once and writes only when it is told to; its lease lasts longer than any test. */
const HOLDING: HybridBuffer = { maxSize: 10_000, idleMs: HOUR_MS, leaseMs: HOUR_MS };
/** Writes at once. */
const WRITING: HybridBuffer = { maxSize: 1, idleMs: 10 };
/** Takes over after a moment of silence. It looks at nobody's clock but its own. */
const IMPATIENT: HybridBuffer = { ...WRITING, leaseMs: 100 };

/** A question of no word that anybody has said: only by meaning can it find anything, and then it finds everything. */
const NO_KNOWN_WORD = "xylophone";

interface Stage {
  readonly path: string;
  readonly ada: PeerProcess;
  readonly ben: PeerProcess;
}

/** Two processes; afterwards the file is looked at. */
function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  return inFolder((folder) =>
    withPeers(2, async ([ada, ben]) => {
      const path = join(folder, "memory.db");
      await work({ path, ada: ada as PeerProcess, ben: ben as PeerProcess });
      expect(unsoundness(path)).toEqual([]);
    }),
  );
}

async function add(peer: PeerProcess, ...contents: readonly string[]): Promise<readonly string[]> {
  return (
    await peer.call(
      "add",
      scope,
      contents.map((content) => ({ role: "user" as const, content })),
    )
  ).ids;
}

/** Lets the process embed these messages, and keep their vectors to itself. */
async function hold(peer: PeerProcess, path: string, ...contents: readonly string[]): Promise<readonly string[]> {
  await peer.call("openEmbedding", { path, buffer: { hybridBuffer: HOLDING } });
  const ids = await add(peer, ...contents);
  const held = await peer.when(({ queued }) => queued === contents.length);
  expect(held).toMatchObject({ pending: contents.length, embedded: 0, leases: 1, written: 0 });
  return ids;
}

/** Resolves when nothing in the file waits any more. */
const settled = (peer: PeerProcess) => peer.when(({ pending }) => pending === 0);

/** Every one of so many items has the vectors of its text, once, and both processes find it by meaning, once. */
async function expectEmbedded(path: string, items: number, ...peers: readonly PeerProcess[]): Promise<void> {
  const { problems, ...audit } = await auditVectors(path, "message");
  expect(problems).toEqual([]);
  expect(audit).toMatchObject({ items, compared: items, pending: 0, parked: 0 });
  for (const peer of peers) {
    const [said, meant] = [await peer.call("list", scope), await peer.call("query", scope, NO_KNOWN_WORD, 1_000)];
    expect([...meant].sort()).toEqual(said.map(({ content }) => content).sort());
    expect(meant.length).toBe(items);
  }
}

describe("a process that holds what it has embedded", () => {
  it("is paused and overtaken: when it resumes it writes none of that work, and then works as before", () =>
    onStage(async ({ path, ada, ben }) => {
      const ids = await hold(ada, path, "the first boat is red", "the second boat is blue", "the third boat is green");
      ada.suspend();
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: IMPATIENT } });
      expect(await ben.when(({ written }) => written === 3)).toMatchObject({ embedded: 3, pending: 0 });
      await ben.call("update", scope, ids[0] ?? "", "the first house is white");
      await ben.call("delete", scope, [ids[1] ?? ""]);
      await settled(ben);
      await expectEmbedded(path, 2, ben);

      ada.resume();
      expect(await ada.call("flush")).toEqual({ pending: 0, parked: 0 });
      expect(await ada.call("progress")).toMatchObject({ written: 0, dropped: 3, queued: 0 });
      await expectEmbedded(path, 2, ada, ben);
      expect(await ada.call("query", scope, "boat blue red second")).not.toContain("the second boat is blue");

      await ben.call("close");
      await add(ada, "a fourth boat", "a fifth boat");
      expect(await ada.call("flush")).toEqual({ pending: 0, parked: 0 });
      expect(await ada.call("progress")).toMatchObject({ embedded: 4, written: 2 });
      await expectEmbedded(path, 4, ada);
    }));

  it("is killed: another, which adds to the session, takes over at once, however long a lease lasts", () =>
    onStage(async ({ path, ada, ben }) => {
      await hold(ada, path, "the first boat is red", "the second boat is blue");
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: { ...WRITING, leaseMs: HOUR_MS } } });
      expect(await ben.call("progress")).toMatchObject({ pending: 2, written: 0 });
      await ada.kill();
      await add(ben, "the third boat is green");
      expect(await ben.when(({ written }) => written === 3)).toMatchObject({ embedded: 3, pending: 0 });
      await expectEmbedded(path, 3, ben);
    }));

  it("is killed: another, which does nothing, takes over long before the lease would have ended", () =>
    onStage(async ({ path, ada, ben }) => {
      const hybridBuffer = { ...WRITING, leaseMs: HOUR_MS };
      await hold(ada, path, "the first boat is red", "the second boat is blue");
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer } }, { speed: 10 }); // an hour takes longer than a test may
      expect(await ben.call("flush")).toMatchObject({ pending: 2 }); // it has looked, and they are another's
      await ada.kill();
      await settled(ben);
      await expectEmbedded(path, 2, ben);
    }));

  it("writes nothing of a text that another process has edited or deleted meanwhile, and no question finds it", () =>
    onStage(async ({ path, ada, ben }) => {
      const old = ["the first boat is red", "the second boat is blue", "the third boat is green"];
      const ids = await hold(ada, path, ...old);
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: WRITING } });
      await ben.call("update", scope, ids[0] ?? "", "the first house is white");
      await ben.call("delete", scope, [ids[1] ?? ""]);
      const left = ["the first house is white", "the third boat is green"];
      const ask = async () => {
        for (const peer of [ada, ben]) {
          expect([...(await peer.call("query", scope, "first second boat red blue"))].sort()).toEqual(left);
        }
      };
      await ask();
      const flushed = ada.call("flush");
      await ask();
      await flushed;
      await ask();
      await until(async () => (await ada.call("flush")).pending === 0);
      // Written: the third as it was, the first anew. Given up: the first and the second as they were.
      expect(await ada.call("progress")).toMatchObject({ embedded: 2, written: 2, dropped: 2 });
      await expectEmbedded(path, 2, ada, ben);
    }));
});

describe("two processes that add to one session at once", () => {
  it("write the vectors of every message once, and both find all by meaning", () =>
    onStage(async ({ path, ada, ben }) => {
      const each = 150;
      const peers = [ada, ben];
      const hybridBuffer = { maxSize: 3, idleMs: 20, leaseMs: 200 };
      await Promise.all(peers.map((peer) => peer.call("openEmbedding", { path, buffer: { hybridBuffer } })));
      const contents = (name: string) => Array.from({ length: each }, (_, at) => `${name} counts boat number ${at}`);
      await Promise.all([
        ada.call("addEach", scope, contents("ada"), 4),
        ben.call("addEach", scope, contents("ben"), 4),
      ]);
      await settled(ada);
      const progress = await Promise.all(peers.map((peer) => peer.when(({ queued }) => queued === 0)));
      expect(progress.map(({ written }) => written).reduce((a, b) => a + b)).toBe(2 * each);
      await expectEmbedded(path, 2 * each, ada, ben);
    }));
});

describe("a time of day that is an hour behind the others'", () => {
  const behind = { shiftMs: -HOUR_MS };

  it("does not prevent a takeover from a silent process", () =>
    onStage(async ({ path, ada, ben }) => {
      await hold(ada, path, "the first boat is red");
      ada.suspend();
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: IMPATIENT } }, behind);
      await add(ben, "the second boat is blue");
      await settled(ben);
      ada.resume();
      await expectEmbedded(path, 2, ada, ben);
    }));

  it("keeps nothing parked that another process would have tried again", () =>
    onStage(async ({ path, ada, ben }) => {
      await parkOne(ada, path);
      await ada.call("close");
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: WRITING } }, behind);
      await ben.when(({ embedded }) => embedded === 2);
      await expectEmbedded(path, 2, ben);
    }));

  it("set in a working process: it continues embedding, and retries what it has parked", () =>
    onStage(async ({ path, ada, ben }) => {
      await parkOne(ada, path, { speed: 100 });
      await ada.call("setTimeOfDay", -YEAR_MS);
      await add(ada, "the third boat is green");
      await ada.when(({ embedded }) => embedded === 2);
      await ada.call("failOn");
      await ada.when(({ embedded }) => embedded === 3);
      await ben.call("openEmbedding", { path, buffer: { hybridBuffer: WRITING } });
      await expectEmbedded(path, 3, ada, ben);
    }));

  /** One message embedded, and one that the embedder broke down on, to be tried again in about half a minute. */
  async function parkOne(peer: PeerProcess, path: string, time = {}): Promise<void> {
    await peer.call("failOn", "poison");
    await peer.call("openEmbedding", { path, buffer: { hybridBuffer: WRITING } }, time);
    await add(peer, "the first boat is red", "a poison boat");
    await peer.when(({ parked, embedded }) => parked === 1 && embedded === 1);
  }
});
