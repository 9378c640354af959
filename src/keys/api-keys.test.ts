import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WriteBuffer } from "../buffers/write.js";
import { fromRecord } from "../errors.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { DoneOf, Write } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import type { SpaceRef } from "../types.js";
import { ApiKeys } from "./api-keys.js";
import type { NewKey } from "./key-input.js";

const ADA = { user: "ada" } as const;
const EVERYWHERE = ["user", "agent", "team"] as const;
const READ_ADA: NewKey = { access: "read", spaces: [ADA] };
/** Well-formed, but no key has it. */
const UNKNOWN = `hf_0123456789abcdef_${"A".repeat(43)}`;

let clock: FakeClock;
let store: SqliteStore;
let keys: ApiKeys;

async function write<W extends Write>(write: W): Promise<DoneOf<W>> {
  const [outcome] = (await store.commit([[write]], clock.now(), "")).outcomes;
  if (!outcome?.ok) throw fromRecord(outcome?.error ?? { code: "store_failed", message: "no outcome" });
  return outcome.done[0] as DoneOf<W>;
}

beforeEach(async () => {
  clock = new FakeClock();
  store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  keys = new ApiKeys({ store, write, now: () => clock.now() });
});
afterEach(() => store.close());

describe("a key that is made", () => {
  it("shows its secret once, and is known by it", async () => {
    const expiresAt = new Date(clock.now() + 1000);
    const { key, secret } = await keys.create({ name: "laptop", access: "write", spaces: [ADA, "team"], expiresAt });
    expect(key).toStrictEqual({
      id: secret.split("_")[1],
      name: "laptop",
      access: "write",
      spaces: [ADA, "team"],
      createdAt: clock.now(),
      expiresAt: expiresAt.getTime(),
    });
    expect(await keys.verify(secret)).toStrictEqual(key);
    expect(await keys.get(key.id)).toStrictEqual(key);
    expect(await keys.list()).toStrictEqual({ items: [key] });
  });

  it("is kept as a hash of its secret, and neither is shown again", async () => {
    const { key, secret } = await keys.create(READ_ADA);
    const [kept] = (await store.keys({ id: key.id, limit: 1 })).items;
    const hash = createHash("sha256").update(secret).digest("hex");
    expect(kept).toStrictEqual({ ...key, hash });
    const random = secret.slice(-43);
    expect(JSON.stringify(kept)).not.toContain(random);
    const shown = [
      key,
      await keys.list(),
      await keys.get(key.id),
      await keys.verify(secret),
      await keys.revoke(key.id),
    ];
    expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${random}|${hash}|"hash"`));
  });

  it("names each space once", async () => {
    const { key } = await keys.create({ access: "read", spaces: [ADA, "user", { user: "ada" }, "user"] });
    expect(key.spaces).toEqual([ADA, "user"]);
  });

  it("is for admins only if it is for all users, agents and teams", async () => {
    for (const spaces of [[ADA], ["user", "agent"], ["user", "team", { agent: "tutor" }]] as const) {
      await expect(keys.create({ access: "admin", spaces })).rejects.toMatchObject({
        code: "invalid_input",
        hint: expect.stringContaining('["user", "agent", "team"]'),
      });
    }
    expect((await keys.create({ access: "admin", spaces: [...EVERYWHERE, ADA] })).key.access).toBe("admin");
  });

  it.each<[string, unknown, string, string?]>([
    ["no object", null, "key"],
    ["an unknown field", { ...READ_ADA, scope: "all" }, "key"],
    ["no access", { spaces: [ADA] }, "key.access"],
    ["another access", { ...READ_ADA, access: "writ" }, "key.access"],
    ["no spaces", { access: "read" }, "key.spaces"],
    ["an empty list of spaces", { access: "read", spaces: [] }, "key.spaces"],
    ["another kind", { access: "read", spaces: [ADA, "users"] }, "key.spaces[1]"],
    ["two spaces in one", { access: "read", spaces: [{ user: "a", team: "b" }] }, "key.spaces[0]"],
    ["an unsound name of a space", { access: "read", spaces: [{ user: "a\u0000" }] }, "key.spaces[0].user"],
    ["too many spaces", { access: "read", spaces: new Array(1001).fill(ADA) }, "key.spaces", "too_large"],
    ["an empty name", { ...READ_ADA, name: "" }, "key.name"],
    ["a name that is no text", { ...READ_ADA, name: 7 }, "key.name"],
    ["no moment", { ...READ_ADA, expiresAt: "soon" }, "key.expiresAt"],
    ["this very moment", { ...READ_ADA, expiresAt: Date.UTC(2026, 0, 1) }, "key.expiresAt"],
    ["a moment of the past", { ...READ_ADA, expiresAt: "2025-12-31" }, "key.expiresAt"],
  ])("is refused with %s", async (_, input, field, code = "invalid_input") => {
    const error = { code, details: { field }, hint: expect.any(String) };
    await expect(keys.create(input as NewKey)).rejects.toMatchObject(error);
    expect((await keys.list()).items).toEqual([]);
  });

  it("may name a thousand spaces", async () => {
    const spaces = Array.from({ length: 1000 }, (_, at): SpaceRef => ({ user: `u${at}` }));
    const { secret } = await keys.create({ access: "read", spaces });
    expect((await keys.verify(secret))?.spaces).toHaveLength(1000);
  });
});

describe("a secret is refused", () => {
  it("from the moment on at which its key expires", async () => {
    const { secret } = await keys.create({ ...READ_ADA, expiresAt: clock.now() + 1000 });
    clock.advance(999);
    expect(await keys.verify(secret)).toBeDefined();
    clock.advance(1);
    expect(await keys.verify(secret)).toBeUndefined();
    expect((await keys.list()).items, "it stays listed").toHaveLength(1);
  });

  it("when its key is revoked, permanently", async () => {
    const { key, secret } = await keys.create(READ_ADA);
    const other = await keys.create(READ_ADA);
    clock.advance(5);
    const revoked = { ...key, revokedAt: clock.now() };
    expect(await keys.revoke(key.id)).toStrictEqual(revoked);
    expect(await keys.verify(secret)).toBeUndefined();
    clock.advance(5);
    expect(await keys.revoke(key.id)).toStrictEqual(revoked);
    clock.set(0);
    expect(await keys.verify(secret), "also by a clock that was set back").toBeUndefined();
    expect(await keys.verify(other.secret)).toBeDefined();
  });

  it("if it is another's with the id of this one, or differs at any place", async () => {
    const { secret } = await keys.create(READ_ADA);
    const other = await keys.create({ access: "admin", spaces: EVERYWHERE });
    expect(await keys.verify(other.secret.slice(0, -43) + secret.slice(-43))).toBeUndefined();
    for (let at = 3; at < secret.length; at++) {
      const changed = secret.slice(0, at) + (secret[at] === "a" ? "b" : "a") + secret.slice(at + 1);
      expect(await keys.verify(changed), String(at)).toBeUndefined();
    }
    expect(await keys.verify(secret)).toBeDefined();
  });

  it("for any input, without an error", async () => {
    const { key, secret } = await keys.create(READ_ADA);
    const hostile: readonly unknown[] = [
      ...["", key.id, `hf_${key.id}_`, `Bearer ${secret}`, `${secret}\u0000`, `\u0000${secret}`, "\ud800".repeat(63)],
      ...["𝒽𝒻_".repeat(100), "x".repeat(10_000_000), `hf_${key.id}_${"é".repeat(43)}`, UNKNOWN],
      ...[undefined, null, 7, Symbol("s"), {}, [secret], { toString: () => secret, length: secret.length }],
    ];
    for (const text of hostile) expect(await keys.verify(text as string)).toBeUndefined();
  });

  it("after the same lookup and the same comparison if its id is unknown", async () => {
    const compared = vi.spyOn(Buffer, "from");
    const asked = vi.spyOn(store, "keys");
    const { key, secret } = await keys.create(READ_ADA);
    const wrong = `${secret.slice(0, -43)}${"A".repeat(43)}`;
    const work = async (text: string) => {
      compared.mockClear();
      asked.mockClear();
      expect(await keys.verify(text)).toBeUndefined();
      return { asked: asked.mock.calls.length, lengths: compared.mock.results.map(({ value }) => value.length) };
    };
    const expected = await work(wrong);
    expect(expected).toEqual({ asked: 1, lengths: [32] });
    expect(await work(UNKNOWN)).toEqual(expected);
    vi.restoreAllMocks();
    expect(await keys.get(key.id)).toBeDefined();
  });

  it("if its stored record is damaged", async () => {
    const { secret } = await keys.create(READ_ADA);
    const damaged = {
      keys: async (request: Parameters<SqliteStore["keys"]>[0]) => {
        const page = await store.keys(request);
        return { ...page, items: page.items.map((key) => ({ ...key, hash: key.hash.slice(0, 8) })) };
      },
    };
    expect(await new ApiKeys({ store: damaged, write, now: () => clock.now() }).verify(secret)).toBeUndefined();
  });
});

describe("keys are listed", () => {
  it("in the order of their making, by pages, and by the space that they name", async () => {
    const made = [];
    for (let at = 0; at < 5; at++) made.push((await keys.create({ ...READ_ADA, name: `key ${at}` })).key);
    const users = (await keys.create({ access: "read", spaces: ["user"] })).key;
    const first = await keys.list({ limit: 4, space: ADA });
    expect(first.items).toStrictEqual(made.slice(0, 4));
    expect(await keys.list({ limit: 4, space: ADA, cursor: first.next as string })).toStrictEqual({
      items: made.slice(4),
    });
    expect((await keys.list()).items).toStrictEqual([...made, users]);
    expect((await keys.list({ space: { user: "bob" } })).items).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{ limit: 0 }, "options.limit"],
    [{ limit: 1001 }, "options.limit"],
    [{ cursor: 7 }, "options.cursor"],
    [{ cursor: "x".repeat(10_000) }, "options.cursor"],
    [{ space: "user" }, "options.space"],
    [{ hash: "ab" }, "options"],
  ])("unless the options are %j", async (options, field) => {
    await expect(keys.list(options as never)).rejects.toMatchObject({ code: "invalid_input", details: { field } });
  });
});

describe("a key that is not there", () => {
  it("is not found, and what was given is not repeated", async () => {
    const { secret } = await keys.create(READ_ADA);
    expect(await keys.get(secret)).toBeUndefined();
    const error = await keys.revoke(secret).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "not_found", hint: expect.any(String) });
    expect(JSON.stringify({ ...(error as Error), message: (error as Error).message })).not.toContain(secret.slice(-43));
    expect(await keys.verify(secret), "a secret is no id").toBeDefined();
  });

  it("is asked for by an id and by nothing else", async () => {
    for (const id of ["", 7, "a\u0000", "x".repeat(600)] as const) {
      await expect(keys.get(id as string)).rejects.toMatchObject({ details: { field: "id" } });
      await expect(keys.revoke(id as string)).rejects.toMatchObject({ details: { field: "id" } });
    }
  });
});

describe("a commit whose answer is lost", () => {
  it.each(["unknown, written", "unknown, not written"] as const)(
    "(%s) makes and revokes one key all the same",
    async (fault) => {
      const faulty = new FaultyStore(store);
      const buffer = new WriteBuffer({ store: faulty, clock, maxWaitingBytes: 1024 * 1024, maxWaitMs: 1000 });
      const buffered = <W extends Write>(write: W): Promise<DoneOf<W>> => {
        faulty.failCommits(fault);
        return buffer.writeOne("keys", write);
      };
      const lossy = new ApiKeys({ store: faulty, write: buffered, now: () => clock.now() });
      const { key, secret } = await lossy.create(READ_ADA);
      expect(key).not.toHaveProperty("hash");
      expect((await keys.list()).items).toStrictEqual([key]);
      expect(await keys.verify(secret)).toStrictEqual(key);
      clock.advance(5);
      expect(await lossy.revoke(key.id)).toStrictEqual({ ...key, revokedAt: clock.now() });
      expect(await keys.verify(secret)).toBeUndefined();
    },
  );
});
