/** A retry is known as one in every process, and after all of them have died. */
import { join } from "node:path";
import type { NewMessage } from "holdfast";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const scope = { user: "ada", session: "monday" };
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

const contents = async (peer: PeerProcess): Promise<readonly string[]> =>
  (await peer.call("list", scope)).map(({ content }) => content);

/** How an add is told from its retry: by its key, or by the ids of its messages. */
const ways = [
  { way: "an idempotency key", messages: round, changed: other, options: { idempotencyKey: "call-7" } },
  {
    way: "the client's ids",
    messages: named,
    changed: other.map((message) => ({ ...message, id: "turn-0" })),
    options: {},
  },
] as const;

describe.each(ways)("with $way", ({ messages, changed, options }) => {
  it("one of many processes adds when all of them make the same call at once", () =>
    inFolder((folder) =>
      withFile(join(folder, "memory.db"), 8, async (peers) => {
        const answers = await Promise.all(peers.map((peer) => peer.call("add", scope, messages, options)));
        expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
        const [first] = answers;
        for (const { ids, sequences } of answers) {
          expect(ids).toEqual(first?.ids);
          expect(sequences).toEqual([1, 2]);
        }
        for (const peer of peers) expect(await contents(peer)).toEqual(round.map(({ content }) => content));
      }),
    ));

  it("a retry after every process was killed adds nothing, and another payload is a conflict", () =>
    inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      let ids: readonly string[] = [];
      await withFile(path, 2, async ([one]) => {
        ids = (await one?.call("add", scope, messages, options))?.ids ?? [];
      }); // both are killed here
      await withFile(path, 2, async ([one, two]) => {
        for (const peer of [one, two] as PeerProcess[]) {
          const again = await peer.call("add", scope, messages, options);
          expect(again).toMatchObject({ ids, sequences: [1, 2], repeated: true });
          await expect(peer.call("add", scope, changed, options)).rejects.toMatchObject({ code: "conflict" });
        }
        expect(await contents(two as PeerProcess)).toEqual(round.map(({ content }) => content));
        const next = await two?.call("add", scope, other);
        expect(next?.sequences).toEqual([3]);
      });
    }));
});

it("a key counts in its own session only", () =>
  inFolder((folder) =>
    withFile(join(folder, "memory.db"), 2, async ([one, two]) => {
      const options = { idempotencyKey: "call-7" };
      await one?.call("add", scope, round, options);
      const elsewhere = await two?.call("add", { ...scope, session: "tuesday" }, other, options);
      expect(elsewhere).toMatchObject({ sequences: [1], repeated: false });
    }),
  ));
