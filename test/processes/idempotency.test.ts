/** A retry is known as one in every process, and after all of them have died. */
import { join } from "node:path";
import type { NewMessage, Scope } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const ADA = { user: "ada", session: "monday" };
const EDIT = { idempotencyKey: "edit 7" };
const round: readonly NewMessage[] = [
  { role: "user", content: "Book the train to Porto." },
  { role: "assistant", content: "Booked, window seat." },
];
const other: readonly NewMessage[] = [{ role: "user", content: "Book the bus to Faro." }];
const named: readonly NewMessage[] = round.map((message, at) => ({ ...message, id: `turn-${at}` }));

/** Processes with the file open. */
function withFile(path: string, count: number, work: (peers: readonly PeerProcess[]) => Promise<void>): Promise<void> {
  return withPeers(count, async (peers) => {
    await Promise.all(peers.map((peer) => peer.call("open", { path })));
    await work(peers);
  });
}

/** How an add is told from its retry: by its key, or by the ids of its messages. Each in a session of its own. */
const ways = [
  {
    scope: { user: "ada", session: "by key" },
    messages: round,
    changed: other,
    options: { idempotencyKey: "call-7" },
  },
  {
    scope: { user: "ada", session: "by the client's ids" },
    messages: named,
    changed: other.map((message) => ({ ...message, id: "turn-0" })),
    options: {},
  },
] as const;

const contents = async (peer: PeerProcess, scope: Scope): Promise<readonly string[]> =>
  (await peer.call("list", scope)).map(({ content }) => content);

it("one of many processes adds, or edits, when all of them make the same call at once", () =>
  inFolder((folder) =>
    withFile(join(folder, "memory.db"), 8, async (peers) => {
      for (const { scope, messages, options } of ways) {
        const answers = await Promise.all(peers.map((peer) => peer.call("add", scope, messages, options)));
        expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
        const [first] = answers;
        for (const { ids, sequences } of answers) {
          expect(ids).toEqual(first?.ids);
          expect(sequences).toEqual([1, 2]);
        }
        for (const peer of peers) expect(await contents(peer, scope)).toEqual(round.map(({ content }) => content));
      }
      await peers[0]?.call("createBlock", ADA, "log");
      const versions = await Promise.all(peers.map((peer) => peer.call("append", ADA, "log", "once", EDIT)));
      expect(versions).toEqual(peers.map(() => 2));
    }),
  ));

it("a retry after every process was killed adds nothing, and another payload is a conflict", () =>
  inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const ids: (readonly string[])[] = [];
    await withFile(path, 2, async ([one]) => {
      for (const { scope, messages, options } of ways) {
        ids.push((await one?.call("add", scope, messages, options))?.ids ?? []);
      }
      await one?.call("createBlock", ADA, "log");
      await one?.call("append", ADA, "log", "once", EDIT);
    }); // both are killed here
    await withFile(path, 2, async (peers) => {
      for (const peer of peers) {
        for (const [at, { scope, messages, changed, options }] of ways.entries()) {
          const again = await peer.call("add", scope, messages, options);
          expect(again).toMatchObject({ ids: ids[at], sequences: [1, 2], repeated: true });
          await expect(peer.call("add", scope, changed, options)).rejects.toMatchObject({ code: "conflict" });
          expect(await contents(peer, scope)).toEqual(round.map(({ content }) => content));
        }
        expect(await peer.call("append", ADA, "log", "once", EDIT)).toBe(2);
        await expect(peer.call("append", ADA, "log", "twice", EDIT)).rejects.toMatchObject({ code: "conflict" });
      }
      const [, two] = peers as [PeerProcess, PeerProcess];
      for (const { scope } of ways) expect((await two.call("add", scope, other)).sequences).toEqual([3]);
      expect(await two.call("append", ADA, "log", "twice")).toBe(3);
      expect(await two.call("block", ADA, "log")).toBe("once\ntwice");
      // A key counts in its own session only.
      const elsewhere = await two.call("add", { user: "ada", session: "tuesday" }, other, ways[0].options);
      expect(elsewhere).toMatchObject({ sequences: [1], repeated: false });
    });
  }));
