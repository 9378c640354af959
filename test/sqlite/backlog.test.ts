/** A large backlog: reads of it are bounded, however many items are pending. */
import { describe, expect, it } from "vitest";
import { alter, newPath } from "../support/opened.js";
import { Embedding, NOW } from "./embedding.js";

const SESSIONS = 100_000;

/** So many sessions of one user, an item waiting in each; their words are left out. */
async function backlog(): Promise<Embedding> {
  const path = newPath();
  const made = await Embedding.open(path, 4);
  await made.add({ space: { user: "ada" } }, [{ id: "x", content: "text" }]);
  await made.store.close();
  const numbers = `WITH RECURSIVE numbers (value) AS (VALUES (10) UNION ALL SELECT value + 1 FROM numbers
    WHERE value < ${SESSIONS + 9})`;
  alter(
    path,
    `BEGIN;
     ${numbers} INSERT INTO session (key, id, space, agent, name, created_at, updated_at, next_seq)
       SELECT value, 'session ' || value, 1, NULL, 's' || value, 0, 0, 2 FROM numbers;
     ${numbers} INSERT INTO item (key, space, id, kind, session, seq, round, role, content, tier, occurred_at,
         recorded_at, updated_at, version, space_version, words, length)
       SELECT value, 1, 'item ' || value, 0, value, 1, 1, 0, 'what was said in session ' || value, 1, 0, ${NOW}, 0, 1, 1,
         '', 0 FROM numbers;
     UPDATE head SET item_key = ${SESSIONS + 9}, items = items + ${SESSIONS};
     UPDATE space SET items = items + ${SESSIONS};
     COMMIT`,
  );
  return Embedding.open(path, 4);
}

describe("a backlog of 100,000 sessions", () => {
  it("is listed newest first up to the limit, and worked off from there", async () => {
    const { store } = await backlog();
    const lanes = await store.waiting("me", 50, NOW);
    expect(lanes.map(({ newest }) => newest)).toEqual(Array.from({ length: 50 }, (_, at) => SESSIONS + 9 - at));
    expect(lanes[0]).toEqual({
      lane: { space: { user: "ada" }, session: `s${SESSIONS + 9}` },
      items: 1,
      newest: SESSIONS + 9,
    });
    const { items: pending } = await store.pending({ lanes, limit: 20, maxBytes: 1e6, now: NOW });
    expect(pending.map(({ key }) => key)).toEqual(lanes.slice(0, 20).map(({ newest }) => newest));
    const { items, more } = await store.tail({ spaces: [{ user: "ada" }], filter: {}, limit: 16, now: NOW });
    expect([items.length, items[0]?.key, more]).toEqual([16, SESSIONS + 9, true]);
    expect(await store.indexingStats()).toMatchObject({ pending: SESSIONS + 1 });
  });
});
