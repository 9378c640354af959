/** Ways to open and close a memory. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { expect, it } from "vitest";
import { newFolder } from "../support/opened.js";

const closed = expect.objectContaining({ code: "closed" });

it("openMemory takes a path, and await using closes the memory at the end of the block", async () => {
  const path = join(newFolder(), "x.db");
  const { session } = await (async () => {
    await using memory = await openMemory(path);
    const session = memory.session({ user: "ada" });
    await session.add([{ role: "user", content: "I moved to Lisbon." }]);
    return { session };
  })();
  expect(existsSync(path)).toBe(true);
  await expect(session.add([{ role: "user", content: "Later." }])).rejects.toEqual(closed);
  await using again = await openMemory(path);
  expect((await again.session({ user: "ada" }).list()).items.map(({ content }) => content)).toEqual([
    "I moved to Lisbon.",
  ]);
});

it("await using stops a server and closes a client's handle at the end of the block", async () => {
  const { session, url } = await (async () => {
    await using server = await serve({ path: ":memory:", server: { port: 0 } });
    const { session, url } = await (async () => {
      await using memory = connect(server.url);
      const session = memory.session({ user: "ada" });
      await session.add([{ role: "user", content: "I moved to Lisbon." }]);
      return { session, url: server.url };
    })();
    await expect(session.list()).rejects.toEqual(closed);
    await using another = connect(url);
    expect((await another.session({ user: "ada" }).list()).items).toHaveLength(1);
    return { session: another.session({ user: "ada" }), url };
  })();
  await expect(session.list()).rejects.toEqual(closed);
  await using late = connect(url, { retries: 0 });
  await expect(late.stats()).rejects.toMatchObject({ code: "unreachable" });
});
