/**
 * Content by key: of one space in one statement, of several in a snapshot. Both return the same, and only items of the
 * spaces asked for.
 */
import { expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { Embedding, NOW, newRow } from "./embedding.js";

const ADA = { user: "ada" };
const BOB = { user: "bob" };
const NOBODY = { user: "nobody" };
const KEYS = [1, 2, 3, 4, 5, 6, 99];

/** What each way shows of all items, by id. */
async function shown({ store }: Embedding, space: { readonly user: string }, now: number) {
  const one = await store.read({ spaces: [space], keys: KEYS, filter: {}, now });
  const several = await store.read({ spaces: [space, NOBODY], keys: KEYS, filter: {}, now });
  expect(one).toEqual(several);
  return one.map(({ id }) => id);
}

it("what is read of one space is what is read of it beside others: what has expired or is past retention is not shown", async () => {
  const embedding = await Embedding.open(newPath(), 4);
  const rows = ["a", "b", "c"].map((id) => newRow({ id, content: id }));
  const brief = { ...newRow({ id: "brief", content: "brief" }), expiresAt: NOW + 10 };
  await embedding.unit({ op: "add", space: ADA, session: "s", items: [...rows, brief], existing: "same" });
  await embedding.unit({ op: "add", space: BOB, items: [newRow({ id: "bob's", content: "x" })], existing: "same" });
  await embedding.unit({
    op: "add",
    space: { agent: "ada" },
    items: [newRow({ id: "agent's", content: "x" })],
    existing: "same",
  });
  expect(await shown(embedding, ADA, NOW)).toEqual(["a", "b", "c", "brief"]);
  expect(await shown(embedding, BOB, NOW)).toEqual(["bob's"]);
  expect(await shown(embedding, NOBODY, NOW)).toEqual([]);
  expect(await shown(embedding, ADA, NOW + 10), "it has expired").toEqual(["a", "b", "c"]);
  await embedding.unit({ op: "amend", entry: { kind: "user", name: "ada" }, retentionMs: 5 });
  expect(await shown(embedding, ADA, NOW + 4)).toEqual(["a", "b", "c", "brief"]);
  expect(await shown(embedding, ADA, NOW + 5), "it is past retention").toEqual([]);
  expect(await shown(embedding, BOB, NOW + 5)).toEqual(["bob's"]);
});
