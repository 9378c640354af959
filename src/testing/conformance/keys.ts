/** API keys: what is stored of them, how they end, and how they follow the spaces that they name. */
import { expect } from "vitest";
import type { KeySpace, KeysRequest, PutKeyWrite, StoredKey } from "../../stores/keys.js";
import type { SpaceRef } from "../../types.js";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, type Probe, SECOND, START } from "./probe.js";

const CREW: SpaceRef = { team: "crew" };
const TUTOR: SpaceRef = { agent: "tutor" };

type Draft = Partial<PutKeyWrite["key"]>;

/** A write of a key, with the parts that matter to the test. */
export function putting(id: string, spaces: readonly KeySpace[], more: Draft = {}): PutKeyWrite {
  return { op: "put_key", key: { id, access: "read", spaces, hash: `hash of ${id}`, ...more } };
}

const put = (probe: Probe, id: string, spaces: readonly KeySpace[], more?: Draft) =>
  probe.unit(putting(id, spaces, more));

async function allKeys({ store }: Probe, request: Partial<KeysRequest> = {}): Promise<readonly StoredKey[]> {
  return (await store.keys({ limit: 1000, ...request })).items;
}

async function idsOf(probe: Probe, request: Partial<KeysRequest>): Promise<readonly string[]> {
  return (await allKeys(probe, request)).map(({ id }) => id);
}

async function keyOf(probe: Probe, id: string): Promise<StoredKey> {
  const [key, ...others] = await allKeys(probe, { id });
  expect(others).toEqual([]);
  return key as StoredKey;
}

const spacesOf = async (probe: Probe, id: string) => (await keyOf(probe, id)).spaces;

export function keys(check: Check, checkPersistent: CheckPersistent): void {
  check("keeps what was put, in order of creation, and answers without the hash", async (probe) => {
    const full = { name: "Ada’s 🔑", access: "write", expiresAt: START + 5, hash: "ab" } as const;
    const spaces = [CREW, "agent", ADA] as const;
    const { hash, ...shown } = { id: "z", ...full, spaces, createdAt: START };
    expect(await put(probe, "z", spaces, full)).toStrictEqual([{ op: "put_key", key: shown }]);
    probe.now += SECOND;
    await put(probe, "a", ["user", "agent", "team"], { access: "admin" });
    const second = { id: "a", access: "admin", spaces: ["user", "agent", "team"], createdAt: START + SECOND };
    expect(await allKeys(probe)).toStrictEqual([
      { ...shown, hash },
      { ...second, hash: "hash of a" },
    ]);
  });

  check("registers the spaces that it names, and changes no version of existing ones", async (probe) => {
    await probe.add(ADA, ["lamp"]);
    const version = await probe.version(ADA);
    await put(probe, "k", [ADA, BOB, TUTOR, CREW]);
    expect([await probe.names("user"), await probe.names("agent"), await probe.names("team")]).toEqual([
      ["ada", "bob"],
      ["tutor"],
      ["crew"],
    ]);
    expect(await probe.version(ADA)).toBe(version);
    const before = probe.written;
    await put(probe, "l", [ADA]);
    await probe.unit({ op: "revoke_key", id: "l" });
    expect(probe.written, "it is written all the same").toBe(before + 2);
    expect(await probe.version(ADA)).toBe(version);
    expect(await probe.ids(ADA)).toHaveLength(1);
  });

  check("refuses an id that is taken, and undoes a unit that fails", async (probe) => {
    await put(probe, "k", [ADA]);
    await probe.fails("conflict", putting("new", [CREW]), putting("k", [TUTOR], { hash: "other" }));
    expect(await allKeys(probe)).toMatchObject([{ id: "k", spaces: [ADA], hash: "hash of k" }]);
    expect(await probe.names("team")).toEqual([]);
    expect(await probe.names("agent")).toEqual([]);
    await probe.fails("not_found", { op: "revoke_key", id: "k" }, { op: "revoke_key", id: "none" });
    expect(await keyOf(probe, "k")).not.toHaveProperty("revokedAt");
  });

  check("revokes one key for good, with the time of the first revocation", async (probe) => {
    await put(probe, "k", [ADA]);
    await put(probe, "other", [ADA]);
    probe.now += SECOND;
    const [done] = await probe.unit({ op: "revoke_key", id: "k" });
    const revoked = { id: "k", access: "read", spaces: [ADA], createdAt: START, revokedAt: START + SECOND };
    expect(done).toStrictEqual({ op: "revoke_key", key: revoked });
    const commit = probe.written;
    probe.now += SECOND;
    expect(await probe.unit({ op: "revoke_key", id: "k" })).toStrictEqual([done]);
    expect(probe.written, "nothing was written").toBe(commit);
    expect(await keyOf(probe, "k")).toStrictEqual({ ...revoked, hash: "hash of k" });
    expect(await keyOf(probe, "other")).not.toHaveProperty("revokedAt");
    await probe.fails("conflict", putting("k", [ADA]));
  });

  check("reports an unknown key, without quoting it", async (probe) => {
    const error = await probe.fails("not_found", { op: "revoke_key", id: "hf_whole_secret" });
    expect(JSON.stringify(error)).not.toContain("whole");
    expect(await allKeys(probe, { id: "none" })).toEqual([]);
  });

  check("finds keys by id and by the one space that they name", async (probe) => {
    await put(probe, "a", [ADA]);
    await put(probe, "both", [BOB, ADA]);
    await put(probe, "users", ["user"]);
    await put(probe, "agent", [{ agent: "ada" }]);
    expect(await idsOf(probe, { space: ADA })).toEqual(["a", "both"]);
    expect(await idsOf(probe, { space: BOB })).toEqual(["both"]);
    expect(await idsOf(probe, { space: { agent: "ada" } })).toEqual(["agent"]);
    expect(await idsOf(probe, { space: { user: "none" } })).toEqual([]);
    expect(await idsOf(probe, { space: ADA, id: "both" })).toEqual(["both"]);
    expect(await idsOf(probe, { space: ADA, id: "users" })).toEqual([]);
    expect(await idsOf(probe, { id: "A" }), "ids are exact").toEqual([]);
  });

  check("returns keys page by page", async (probe) => {
    for (const id of ["c", "a", "b"]) await put(probe, id, [ADA]);
    await put(probe, "x", [BOB]);
    const first = await probe.store.keys({ space: ADA, limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["c", "a"]);
    await put(probe, "late", [ADA]);
    const second = await probe.store.keys({ space: ADA, limit: 2, cursor: first.next as string });
    expect(second.items.map(({ id }) => id)).toEqual(["b", "late"]);
    expect(second.next).toBeUndefined();
    expect((await probe.store.keys({ limit: 5 })).next).toBeUndefined();
    for (const cursor of ["nonsense", "", "1"]) {
      await expect(probe.store.keys({ limit: 2, cursor })).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  check("follows a space that is renamed", async (probe) => {
    await put(probe, "k", [ADA, "user", BOB]);
    await put(probe, "agent", [TUTOR, CREW]);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    expect(await spacesOf(probe, "k")).toEqual([{ user: "lovelace" }, "user", BOB]);
    await probe.amend({ kind: "user", name: "bob" }, { name: "ada" });
    await probe.amend({ kind: "user", name: "lovelace" }, { name: "bob" });
    expect(await spacesOf(probe, "k"), "they have changed places").toEqual([BOB, "user", ADA]);
    await probe.amend({ kind: "agent", name: "tutor" }, { name: "coach" });
    await probe.amend({ kind: "team", name: "crew" }, { name: "club" });
    expect(await spacesOf(probe, "agent")).toEqual([{ agent: "coach" }, { team: "club" }]);
    expect(await idsOf(probe, { space: TUTOR })).toEqual([]);
    expect(await idsOf(probe, { space: { agent: "coach" } })).toEqual(["agent"]);
    const renaming = { op: "amend", entry: { kind: "user", name: "ada" }, name: "new" } as const;
    await probe.fails("not_found", renaming, { op: "revoke_key", id: "none" });
    expect(await spacesOf(probe, "k")).toEqual([BOB, "user", ADA]);
  });

  check("loses a space that is forgotten, and does not apply to a new one of that name", async (probe) => {
    await put(probe, "k", [ADA, BOB, "team"]);
    await put(probe, "hers", [ADA]);
    await probe.add(ADA, ["lamp", "rope", "sail"], { session: "s" });
    await probe.forget({ space: ADA, entry: false });
    expect(await spacesOf(probe, "k"), "the user is still there").toEqual([ADA, BOB, "team"]);
    expect(await keyOf(probe, "k")).not.toHaveProperty("forgotten");
    await probe.add(ADA, ["lamp", "rope", "sail"]);
    await probe.forget({ space: ADA, entry: true });
    expect(await keyOf(probe, "k")).toMatchObject({ spaces: [BOB, "team"], forgotten: ["user"] });
    await probe.add(ADA, ["anchor"]);
    expect(await spacesOf(probe, "k"), "another Ada").toEqual([BOB, "team"]);
    expect(await keyOf(probe, "hers")).toMatchObject({ spaces: [], forgotten: ["user"] });
    expect(await idsOf(probe, { space: ADA })).toEqual([]);
    await probe.amend({ kind: "user", name: "bob" }, { name: "robert" });
    expect(await spacesOf(probe, "k")).toEqual([{ user: "robert" }, "team"]);
  });

  check("loses its name with the last space that it was made for", async (probe) => {
    for (const [id, spaces] of [
      ["hers", [ADA]],
      ["both", [ADA, BOB]],
      ["all", [ADA, "user"]],
      ["his", [BOB]],
    ] as const) {
      await put(probe, id, spaces, { name: `${id} by name` });
    }
    await probe.forget({ space: ADA, entry: false });
    const names = async () => (await allKeys(probe)).map(({ name }) => name);
    expect(await names()).toEqual(["hers by name", "both by name", "all by name", "his by name"]);
    await probe.forget({ space: ADA, entry: true });
    expect(await names()).toEqual([undefined, "both by name", "all by name", "his by name"]);
    expect(await keyOf(probe, "hers")).not.toHaveProperty("name");
    await probe.forget({ space: BOB, entry: true });
    expect(await names()).toEqual([undefined, undefined, "all by name", undefined]);
  });

  check(
    "loses agents and teams too, each kind reported once, and nothing by a forget that is undone",
    async (probe) => {
      await put(probe, "k", [CREW, TUTOR, { agent: "clerk" }, ADA]);
      const forgetting = { op: "forget", target: { space: TUTOR, entry: true } } as const;
      await probe.fails("not_found", forgetting, { op: "revoke_key", id: "none" });
      expect(await keyOf(probe, "k")).toMatchObject({ spaces: [CREW, TUTOR, { agent: "clerk" }, ADA] });
      for (const space of [TUTOR, CREW, { agent: "clerk" }]) await probe.forget({ space, entry: true });
      expect(await keyOf(probe, "k")).toMatchObject({ spaces: [ADA], forgotten: ["team", "agent"] });
      const [revoked] = await probe.unit({ op: "revoke_key", id: "k" });
      expect(revoked).toMatchObject({ key: { spaces: [ADA], forgotten: ["team", "agent"] } });
    },
  );

  check("keeps many spaces in their order", async (probe) => {
    const many = Array.from({ length: 300 }, (_, at): SpaceRef => ({ user: `user ${(at * 7) % 300}` }));
    await put(probe, "k", many);
    expect(await spacesOf(probe, "k")).toEqual(many);
    expect(await idsOf(probe, { space: { user: "user 299" } })).toEqual(["k"]);
  });

  checkPersistent("shows a key to other handles at once, and after close and open", async (probe, reopen) => {
    const other = probe.on(await reopen());
    await put(probe, "k", [ADA, "team"], { name: "laptop", expiresAt: START + 9 });
    const made = await keyOf(probe, "k");
    expect(await keyOf(other, "k")).toStrictEqual(made);
    other.now += SECOND;
    await other.unit({ op: "revoke_key", id: "k" });
    const revoked = { ...made, revokedAt: START + SECOND };
    expect(await keyOf(probe, "k")).toStrictEqual(revoked);
    await other.forget({ space: ADA, entry: true });
    const left = { ...revoked, spaces: ["team"], forgotten: ["user"] };
    expect(await keyOf(probe, "k")).toStrictEqual(left);
    await other.store.close();
    await probe.store.close();
    const third = probe.on(await reopen());
    try {
      await third.add(ADA, ["lamp"]);
      expect(await allKeys(third)).toStrictEqual([left]);
    } finally {
      await third.store.close();
    }
  });
}
