/** Many processes open the same new file in the same moment: one of them makes it, and none of them notices. */
import { join } from "node:path";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { withPeers } from "./peer-process.js";

const PROCESSES = 10;
const FILES = 6;

function schemaOf(path: string): unknown {
  const database = openRaw(path);
  try {
    const objects = database.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
    const heads = database.prepare("SELECT count(*) AS heads, max(schema) AS schema FROM head").get();
    const version = database.prepare("PRAGMA user_version").get();
    return { objects: objects.map((row) => ({ ...row })), heads: { ...heads }, version: { ...version } };
  } finally {
    database.close();
  }
}

it("many processes open a file that is not there yet, all succeed, and there is one schema", () =>
  inFolder((folder) =>
    withPeers(PROCESSES, async (peers) => {
      const alone = join(folder, "alone.db");
      await (await openMemory({ path: alone })).close();
      for (let file = 1; file <= FILES; file++) {
        const path = join(folder, `memory-${file}.db`);
        const opened = await Promise.allSettled(peers.map((peer) => peer.call("open", { path })));
        expect(opened.map((result) => (result.status === "rejected" ? String(result.reason) : "opened"))).toEqual(
          peers.map(() => "opened"),
        );
        const added = await Promise.all(
          peers.map((peer, index) =>
            peer.call("add", { user: "ada", session: "first" }, [{ role: "user", content: `process ${index}` }]),
          ),
        );
        const sequences = added.flatMap((answer) => answer.sequences);
        expect(sequences.sort((a, b) => a - b)).toEqual(peers.map((_, at) => at + 1));
        await Promise.all(peers.map((peer) => peer.call("close")));
        expect(schemaOf(path)).toEqual(schemaOf(alone));
        expect(unsoundness(path)).toEqual([]);
      }
    }),
  ));
