/**
 * Two processes on one file, part of which is removed or replaced: everything that either of them acknowledged is
 * there.
 */
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { unsoundness } from "../support/raw.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const SCOPE = { user: "ada", session: "s" };
const ADDS = 14;
/** Enough for a checkpoint. */
const MANY = 260;

/** The texts that were acknowledged. Ends with the first that was not, which must say why. */
async function add(peer: PeerProcess, name: string, adds: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let at = 0; at < adds; at++) {
    const content = `${name} ${at}`;
    try {
      await peer.call("add", SCOPE, [{ role: "user", content }]);
      acknowledged.push(content);
    } catch (error) {
      expect(error).toMatchObject({ code: "store_unsafe" });
      return acknowledged;
    }
  }
  return acknowledged;
}

async function texts(path: string): Promise<string[]> {
  const memory = await openMemory({ path });
  const { items } = await memory.session(SCOPE).list({ limit: 1_000 });
  await memory.close();
  return items.map(({ content }) => content);
}

it.each([
  ["few", ADDS],
  ["many", MANY],
])(
  "the log's index is removed and a second process opens the file: none of %s acknowledged writes is lost",
  (_, adds) =>
    inFolder((folder) =>
      withPeers(2, async ([first, second]) => {
        const path = join(folder, "memory.db");
        await first?.call("open", { path });
        const kept = await add(first as PeerProcess, "before", adds);
        rmSync(`${path}-shm`);
        await second?.call("open", { path });
        const [mine, others] = await Promise.all([
          add(first as PeerProcess, "first", adds),
          add(second as PeerProcess, "second", adds),
        ]);
        expect([kept.length, mine.length, others.length]).toEqual([adds, 0, adds]);
        await expect(first?.call("close")).rejects.toMatchObject({ code: "store_unsafe" });
        await second?.call("close");
        expect((await texts(path)).sort()).toEqual([...kept, ...others].sort());
        expect(unsoundness(path)).toEqual([]);
      }),
    ),
);

it("the log is removed: a second process is refused, and the first stops", () =>
  inFolder((folder) =>
    withPeers(2, async ([first, second]) => {
      const path = join(folder, "memory.db");
      await first?.call("open", { path });
      await add(first as PeerProcess, "before", ADDS);
      renameSync(`${path}-wal`, `${path}-moved`);
      await expect(second?.call("open", { path })).rejects.toMatchObject({ code: "store_unsafe" });
      expect(await add(first as PeerProcess, "first", 1)).toEqual([]);
    }),
  ));

it("the file is replaced: the process that has it open stops, and one that opens the new file is not disturbed", () =>
  inFolder((folder) =>
    withPeers(2, async ([first, second]) => {
      const [path, other] = [join(folder, "memory.db"), join(folder, "other.db")];
      await second?.call("open", { path: other });
      const foreign = await add(second as PeerProcess, "foreign", ADDS);
      await second?.call("close");
      await first?.call("open", { path });
      await add(first as PeerProcess, "before", ADDS);
      for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`);
      copyFileSync(other, `${path}.new`);
      renameSync(`${path}.new`, path);
      await second?.call("open", { path });
      const [mine, more] = await Promise.all([
        add(first as PeerProcess, "first", ADDS),
        add(second as PeerProcess, "second", ADDS),
      ]);
      expect([mine.length, more.length]).toEqual([0, ADDS]);
      await expect(first?.call("close")).rejects.toMatchObject({ code: "store_unsafe" });
      await second?.call("close");
      expect((await texts(path)).sort()).toEqual([...foreign, ...more].sort());
      expect(unsoundness(path)).toEqual([]);
    }),
  ));
