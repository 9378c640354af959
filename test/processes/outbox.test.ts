/**
 * Changes of vectors are committed, and the process is killed before the external index has them, or before that was
 * recorded. The next process that opens the file sends them: each at least once, in order, until the index matches the
 * file.
 */
import { join } from "node:path";
import { SqliteStore } from "holdfast/stores";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { decode } from "../support/product.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { base64, type Hold, type IndexedPoint, readTold, type Told } from "./file-index.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const space = { user: "ada" };
const scope = { ...space, session: "monday" };
const DIMENSIONS = 64;

const LIVES: readonly Hold[] = ["before", "after", "before", "before", "after"];

/** Opens the file with the index beside it, vectors being written at once. */
async function open(peer: PeerProcess, path: string, index: string, hold: Hold): Promise<void> {
  await peer.call("openIndexed", { path, buffer: { hybridBuffer: { maxSize: 1, idleMs: 10 } } }, index, hold);
}

/** Adds some messages, edits one and deletes one of those that are there, and embeds it all. */
async function change(peer: PeerProcess, life: number): Promise<void> {
  const contents = Array.from(
    { length: 6 },
    (_, at) => `Boat ${at} of fleet ${life}. It is painted in colour ${at * life}.`,
  );
  await peer.call("addEach", scope, contents, 2);
  await peer.call("flush");
  const [first, second, ...others] = await peer.call("list", scope);
  await peer.call("update", scope, String(first?.id), `The first boat was sold in year ${life}.`);
  await peer.call("delete", scope, [String(second?.id)]);
  await peer.call("update", scope, String(others.at(-1)?.id), `The last boat was sold in year ${life}.`);
  await peer.call("flush");
}

/** What an index holds that was told all this. */
function replayed(told: readonly Told[]): readonly IndexedPoint[] {
  const points = new Map<string, IndexedPoint>();
  for (const line of told) {
    if ("upsert" in line) points.set(line.upsert.id, line.upsert);
    else points.delete(line.delete);
  }
  return sorted([...points.values()]);
}

/** What the file holds, as points. */
async function stored(path: string): Promise<readonly IndexedPoint[]> {
  const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
  const database = openRaw(path);
  try {
    const rows = database.prepare("SELECT id, item, vectors FROM vector_1 JOIN item ON item.key = vector_1.item").all();
    const vectors = new Map(rows.map((row) => [row["item"], decode(row["vectors"] as Uint8Array, DIMENSIONS)]));
    const ids = rows.map((row) => String(row["id"]));
    const chunks = await store.chunks([space], ids, Date.now());
    return sorted(
      chunks.map(({ id, key, version, part }) => {
        const vector = vectors.get(key)?.subarray(part * DIMENSIONS, (part + 1) * DIMENSIONS);
        return { id, key, version, part, vector: base64(vector ?? new Float32Array()) };
      }),
    );
  } finally {
    database.close();
    await store.close();
  }
}

const sorted = (points: readonly IndexedPoint[]) =>
  [...points].sort((a, b) => a.key - b.key || a.part - b.part || a.id.localeCompare(b.id));

/** Points whose version went back from one line to a later one. */
function backwards(told: readonly Told[]): readonly IndexedPoint[] {
  const versions = new Map<number, number>();
  return told.flatMap((line) => {
    if (!("upsert" in line)) return [];
    const { key, version } = line.upsert;
    const isBack = version < (versions.get(key) ?? 0);
    versions.set(key, version);
    return isBack ? [line.upsert] : [];
  });
}

it("an index gets every change of vectors, whenever the processes that send them are killed", () =>
  inFolder(async (folder) => {
    const [path, index] = [join(folder, "memory.db"), join(folder, "index.log")];
    for (const [at, hold] of LIVES.entries()) {
      await withPeers(1, async ([peer]) => {
        if (!peer) return;
        await open(peer, path, index, hold);
        await change(peer, at + 1);
        const { unsent } = await peer.when(({ heldByIndex, pending }) => heldByIndex > 0 && pending === 0);
        expect(unsent).toBeGreaterThan(0);
        await peer.kill();
      });
    }
    const before = readTold(index).length;
    expect(replayed(readTold(index))).not.toEqual(await stored(path)); // or nothing was left to be told
    await withPeers(1, async ([peer]) => {
      if (!peer) return;
      await open(peer, path, index, "never");
      await peer.when(({ unsent, pending }) => unsent === 0 && pending === 0);
      await peer.call("close");
    });
    const told = readTold(index);
    expect(told.length).toBeGreaterThan(before);
    expect(backwards(told)).toEqual([]);
    const held = await stored(path);
    expect(held.length).toBeGreaterThan(LIVES.length * 6);
    expect(replayed(told)).toEqual(held);
    expect(unsoundness(path)).toEqual([]);
  }));
