/**
 * The names of forgotten users, agents and teams are removed from the logs, keys and receipts of other spaces and from
 * the bytes of the files. Text that others wrote about them stays.
 */
import type { Memory, OpenOptions } from "holdfast";
import { describe, expect, it } from "vitest";
import { stillInFiles } from "../support/bytes.js";
import { newPath, open } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";

const BY_WORDS: OpenOptions = { buffer: { hybridBuffer: { embeddingModel: "none" } } };
const CREW = { team: "crew" } as const;

/** A name that occurs nowhere else, long enough to be looked for in bytes. */
const named = (what: string): string => `zq-${what}-wqxjkv`;

const ADA = named("ada");
const GONE = {
  user: ADA,
  session: named("session"),
  description: named("description"),
  key: named("key-name"),
  retry: named("idempotency"),
  id: named("message-id"),
  agent: named("tutor"),
};

/** Ada has something everywhere, and has signed in the logs of her team. */
async function fill(memory: Memory): Promise<void> {
  await memory.users.create(ADA, GONE.description);
  const ada = memory.session({ user: ADA, session: GONE.session }, { grants: [CREW] });
  for (let at = 0; at < 120; at++) {
    await ada.add([{ id: `${GONE.id}-${at}`, role: "user", content: `a plan ${at}` }], {
      idempotencyKey: `${GONE.retry}-${at}`,
    });
    await memory.session({ user: `other-${at}` }).add([{ role: "user", content: `someone else's plan ${at}` }]);
  }
  await ada.promote([`${GONE.id}-3`], { to: CREW, reason: "all should know" });
  await memory.keys.create({ name: GONE.key, access: "read", spaces: [{ user: ADA }] });
  const crew = memory.session(CREW);
  await crew.blocks.create({ name: "plan", content: "first", reason: "new", actor: `user ${ADA}` });
  for (let at = 0; at < 60; at++) {
    const actor = [`user ${ADA}`, ADA, `agent ${GONE.agent}`, "user bob"][at % 4] as string;
    await crew.blocks.edit("plan", { append: `\nstep ${at}`, reason: "more", actor });
  }
}

describe("a forgotten user's name", () => {
  it("leaves the logs of other spaces, the keys and the bytes of the files", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    await fill(memory);
    const { agent, id, ...texts } = GONE;
    expect(stillInFiles(path, Object.values(GONE)).sort()).toEqual(Object.values(GONE).sort());
    const receipt = await memory.forget({ user: ADA });
    expect(receipt).toMatchObject({ entries: 1, sessions: 1, purged: true });
    expect(receipt.left).toEqual([{ what: "1 copy in other spaces", why: expect.any(String) }]);
    expect(stillInFiles(path, Object.values(texts))).toEqual([]);

    const crew = memory.session(CREW);
    const actors = (await crew.blocks.history("plan")).map(({ actor }) => actor);
    expect(new Set(actors)).toEqual(new Set([undefined, `agent ${agent}`, "user bob"]));
    expect((await crew.promotions()).items).toMatchObject([{ id: `${id}-3`, reason: "all should know" }]);
    expect((await crew.promotions()).items[0]).not.toHaveProperty("actor");
    const [key] = (await memory.keys.list()).items;
    expect(key).not.toHaveProperty("name");

    await memory.forget({ agent }).catch(() => undefined);
    expect(JSON.stringify(await memory.stats())).not.toContain(ADA);
    await memory.close();
    expect(stillInFiles(path, Object.values(texts))).toEqual([]);
    expect(unsoundness(path)).toEqual([]);
  });

  it("that was another one before leaves with both names", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    await fill(memory);
    const [eve, evening] = [named("eve"), named("evening")];
    await memory.users.rename(ADA, eve);
    await memory.users.describe(eve, named("another-description"));
    await memory.sessions.rename({ user: eve }, GONE.session, evening);
    const crew = memory.session(CREW);
    const signed = async () => (await crew.blocks.history("plan")).map(({ actor }) => actor);
    expect(await signed(), "the log has the name of the day").toContain(`user ${eve}`);
    expect(await signed()).not.toContain(`user ${ADA}`);
    expect(await memory.forget({ user: eve })).toMatchObject({ entries: 1, purged: true });
    expect((await signed()).filter((actor) => actor?.includes(eve) || actor === `user ${ADA}`)).toEqual([]);
    // A bare name is what the caller called itself; the registry cannot know that it was hers once.
    expect(await signed()).toContain(ADA);
    const { session, description, retry } = GONE;
    const texts = [eve, evening, named("another-description"), `user ${ADA}`, session, description, retry];
    expect(stillInFiles(path, texts)).toEqual([]);
  });

  it("of an agent leaves the logs as well", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    await fill(memory);
    await memory.session({ agent: GONE.agent }).addItems([{ kind: "knowledge", content: "what the tutor knows" }]);
    await memory.forget({ agent: GONE.agent });
    const actors = (await memory.session(CREW).blocks.history("plan")).map(({ actor }) => actor);
    expect(actors).not.toContain(`agent ${GONE.agent}`);
    expect(stillInFiles(path, [GONE.agent])).toEqual([]);
  });
});

describe("idempotency keys", () => {
  it("that a delete leaves are named in its receipt, and removed with their session", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    const session = memory.session({ user: "bob", session: "s" });
    const { ids } = await session.add([{ role: "user", content: "order a lamp" }], { idempotencyKey: GONE.retry });
    await session.add([{ id: "plain", role: "user", content: "without a key" }]);
    expect((await session.delete(["plain"])).left).toEqual([]);
    const { left } = await session.delete(ids);
    expect(left).toEqual([
      { what: expect.stringContaining("idempotency keys"), why: expect.stringContaining("retry") },
    ]);
    const again = await session.add([{ role: "user", content: "order a lamp" }], { idempotencyKey: GONE.retry });
    expect(again, "it does not come back").toMatchObject({ repeated: true, ids });
    expect((await memory.forget({ user: "bob", session: "s" })).left).toEqual([]);
    expect(stillInFiles(path, [GONE.retry])).toEqual([]);
  });
});
