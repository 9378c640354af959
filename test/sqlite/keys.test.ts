/** API keys in a file: what its bytes reveal about them, and what other processes on the file see. */
import { existsSync, readFileSync } from "node:fs";
import { FakeClock } from "holdfast/testing";
import { expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";

/** Which of these can be read in the files. */
function inFiles(path: string, texts: readonly (string | Buffer)[]): (string | Buffer)[] {
  const files = ["", "-wal", "-shm"].map((suffix) => path + suffix).filter(existsSync);
  const bytes = files.map((file) => readFileSync(file));
  return texts.filter((text) => bytes.some((file) => file.includes(text)));
}

it("the file has the hash of a secret, and no byte of its random part in any form", async () => {
  const path = newPath();
  const memory = await open({ path });
  const { key, secret } = await memory.keys.create({ access: "read", spaces: [{ user: "ada" }] });
  await memory.keys.verify(secret);
  await memory.keys.revoke(key.id);
  const random = secret.slice(-43);
  const bits = Buffer.from(random, "base64url");
  const pieces = Array.from({ length: 43 - 8 }, (_, at) => random.slice(at, at + 8));
  const traces = [...pieces, bits.subarray(0, 8), bits.subarray(-8), bits.toString("hex").slice(0, 16)];
  expect(inFiles(path, [key.id])).toEqual([key.id]);
  expect(inFiles(path, traces)).toEqual([]);
  await memory.close();
  expect(inFiles(path, [key.id])).toEqual([key.id]);
  expect(inFiles(path, traces)).toEqual([]);
});

it("a key that one process makes opens for another at once, and closes when it is revoked or expires", async () => {
  const path = newPath();
  const clock = new FakeClock();
  const server = await open({ path, clock });
  const shell = await open({ path, clock });
  const expiresAt = clock.now() + 60_000;
  const { key, secret } = await shell.keys.create({ access: "write", spaces: ["user"], name: "laptop", expiresAt });
  const brief = await server.keys.create({ access: "read", spaces: ["team"], expiresAt: clock.now() + 1000 });
  expect(await server.keys.verify(secret)).toEqual(key);
  expect(await shell.keys.verify(brief.secret)).toEqual(brief.key);
  expect(await server.keys.list()).toEqual(await shell.keys.list());
  clock.set(clock.now() + 1000);
  expect(await shell.keys.verify(brief.secret)).toBeUndefined();
  expect(await server.keys.verify(secret)).toEqual(key);
  await shell.keys.revoke(key.id);
  expect(await server.keys.verify(secret)).toBeUndefined();
  expect(await server.keys.get(key.id)).toEqual({ ...key, revokedAt: clock.now() });
});

it("a key follows its users through renames, and a forgotten user is removed from it and from the file", async () => {
  const path = newPath();
  const memory = await open({ path });
  const [old, now] = ["user-of-old-zq7", "user-of-now-xv9"];
  await memory.session({ user: old, session: "s" }).add([{ role: "user", content: "I moved to Lisbon." }]);
  const spaces = [{ user: old }, { agent: "tutor" }] as const;
  const { secret } = await memory.keys.create({ access: "read", spaces });
  await memory.users.rename(old, now);
  await memory.agents.rename("tutor", "coach");
  expect(await memory.keys.verify(secret)).toMatchObject({ spaces: [{ user: now }, { agent: "coach" }] });
  expect((await memory.keys.list({ space: { user: now } })).items).toHaveLength(1);
  expect((await memory.keys.list({ space: { user: old } })).items).toEqual([]);
  await memory.users.create(old);
  expect(await memory.keys.verify(secret), "another one under the old name").toMatchObject({
    spaces: [{ user: now }, { agent: "coach" }],
  });
  expect(await memory.users.delete(now)).toMatchObject({ entries: 1, purged: true });
  await memory.users.delete(old);
  expect(inFiles(path, [old, now])).toEqual([]);
  await memory.users.create(now);
  expect(await memory.keys.verify(secret)).toMatchObject({ spaces: [{ agent: "coach" }], forgotten: ["user"] });
  await memory.agents.delete("coach");
  expect(await memory.keys.verify(secret)).toMatchObject({ spaces: [], forgotten: ["user", "agent"] });
  await memory.close();
  expect(unsoundness(path)).toEqual([]);
});

it("a memory without a file has keys too, and none when it is closed", async () => {
  const memory = await open({ path: ":memory:" });
  const { key, secret } = await memory.keys.create({ access: "admin", spaces: ["user", "agent", "team"] });
  expect(await memory.keys.verify(secret)).toEqual(key);
  await memory.close();
  await expect(memory.keys.verify(secret)).rejects.toMatchObject({ code: "closed" });
  await expect(memory.keys.create({ access: "read", spaces: ["user"] })).rejects.toMatchObject({ code: "closed" });
});
