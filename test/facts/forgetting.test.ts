/**
 * Forgetting the sources of facts, and facts themselves: what is removed, what stays and why, and what is left in the
 * file.
 */
import { existsSync, readFileSync } from "node:fs";
import type { ForgetReceipt, Session } from "holdfast";
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { begin, contents, livesIn, reopen } from "./city.js";

const EVERY = ["holds", "ended", "retracted"] as const;

async function say(session: Session, content: string): Promise<string> {
  const [id = ""] = (await session.add([{ role: "user", content }])).ids;
  return id;
}

async function learn(session: Session, city: string, ...messages: string[]): Promise<string> {
  let id = "";
  for (const message of messages) {
    id = (await session.facts.upsert(livesIn(city, { source: { message } }))).fact.id;
  }
  return id;
}

const leftOf = ({ left }: ForgetReceipt, what: string): string | undefined =>
  left.find((entry) => entry.what === what)?.why;

/** The words that are still in the files, in any case. */
function inFiles(path: string, words: readonly string[]): readonly string[] {
  const files = ["", "-wal", "-shm"].map((suffix) => path + suffix).filter((file) => existsSync(file));
  const texts = files.map((file) => readFileSync(file).toString("latin1").toLowerCase());
  return words.filter((word) => texts.some((text) => text.includes(word)));
}

describe("a deleted message", () => {
  it("removes the facts that have no other source, their past included, and names those that stay", async () => {
    const { session } = await begin();
    const first = await say(session, "I live in Porto, I lived in Faro");
    const second = await say(session, "Porto it is");
    const alone = await learn(session, "Braga", first);
    const past = await learn(session, "Faro", first);
    await session.facts.end(past);
    const both = await learn(session, "Porto", first, second);
    const other = await learn(session, "Lisbon", second);
    const receipt = await session.delete([first]);
    // The message, and the item of the one fact that held.
    expect(receipt).toMatchObject({ items: 2, facts: 2, missing: [], purged: true });
    expect(leftOf(receipt, both)).toContain("another source");
    expect(receipt.left).toHaveLength(1);
    const { items } = await session.facts.list({ state: EVERY });
    expect(items.map(({ id }) => id)).toEqual([both, other]);
    expect(items[0]?.sources).toEqual([{ session: "monday", message: second }]);
    expect(await session.facts.get([alone, past])).toEqual([]);
    expect(await session.query("Braga Faro")).toHaveLength(0);
  });

  it("that is the last source, after the others, removes the fact", async () => {
    const { session } = await begin();
    const messages = [await say(session, "one"), await say(session, "two")];
    const fact = await learn(session, "Porto", ...messages);
    expect(await session.delete(messages.slice(0, 1))).toMatchObject({ facts: 0, items: 1 });
    expect(await session.delete(messages.slice(1))).toMatchObject({ facts: 1, items: 2, left: [] });
    expect(await session.facts.get([fact])).toEqual([]);
  });

  it("both at once remove it too, and the receipt does not say that it stays", async () => {
    const { session } = await begin();
    const messages = [await say(session, "one"), await say(session, "two")];
    await learn(session, "Porto", ...messages);
    expect(await session.delete(messages)).toMatchObject({ facts: 1, items: 3, left: [] });
  });

  it("keeps what the host said itself", async () => {
    const { session, memory } = await begin();
    const message = await say(session, "I live in Porto");
    const id = await learn(session, "Porto", message);
    await memory.session({ user: "ada" }).facts.upsert(livesIn("Porto"));
    const receipt = await session.delete([message]);
    expect(receipt.facts).toBe(0);
    expect(leftOf(receipt, id)).toBeDefined();
    expect(await session.facts.get([id])).toMatchObject([{ state: "holds", sources: [{}] }]);
  });

  it("removes a retraction whose source it is: the fact may be learned again", async () => {
    const { session } = await begin();
    const message = await say(session, "I live in Porto");
    await session.facts.retract(await learn(session, "Porto", message));
    expect(await session.delete([message])).toMatchObject({ facts: 1 });
    expect((await session.facts.upsert(livesIn("Porto"))).outcome).toBe("added");
  });

  it("that was said in a turn removes the turn's fact", async () => {
    const { session } = await begin();
    const turn = session.turn();
    turn.push({ op: "save_message", message: { id: "m", role: "user", content: "I live in Porto" } });
    turn.push({ op: "upsert_fact", category: "home", content: "in Porto", confidence: 1, sourceMessage: "m" });
    await session.commit(turn);
    expect(contents((await session.facts.list()).items)).toEqual(["in Porto"]);
    expect(await session.delete(["m"])).toMatchObject({ items: 2, facts: 1 });
    expect((await session.facts.list({ state: EVERY })).items).toEqual([]);
  });
});

describe("a forgotten session", () => {
  it("removes the facts that were learned in it, by default, and keeps those of others", async () => {
    const { session, memory } = await begin();
    const tuesday = memory.session({ user: "ada", session: "tuesday" });
    const message = await say(session, "I moved");
    await session.facts.upsert(livesIn("Porto")); // its source is the session
    await learn(session, "Faro", message);
    const both = (await session.facts.upsert(livesIn("Lisbon"))).fact.id;
    await tuesday.facts.upsert(livesIn("Lisbon"));
    await tuesday.facts.upsert(livesIn("Braga"));
    const receipt = await session.forget();
    expect(receipt).toMatchObject({ sessions: 1, facts: 2, items: 3, purged: true });
    expect(receipt.left.map(({ what }) => what)).toEqual([both]);
    expect(contents((await tuesday.facts.list({ state: EVERY })).items)).toEqual([
      "Ada lives in Lisbon",
      "Ada lives in Braga",
    ]);
    expect((await tuesday.facts.get([both]))[0]?.sources).toEqual([{ session: "tuesday" }]);
  });

  it("a forgotten user takes all of them, in any state, and no others", async () => {
    const { memory, session } = await begin();
    const bob = memory.session({ user: "bob" });
    await bob.facts.upsert(livesIn("Porto"));
    await session.facts.retract((await session.facts.upsert(livesIn("Faro"))).fact.id);
    await session.facts.end((await session.facts.upsert(livesIn("Braga"))).fact.id);
    await session.facts.upsert(livesIn("Porto"));
    expect(await memory.forget({ user: "ada" })).toMatchObject({ facts: 3, items: 1, entries: 1, left: [] });
    expect((await session.facts.list({ state: EVERY })).items).toEqual([]);
    expect((await bob.facts.list()).items).toHaveLength(1);
    expect((await session.facts.upsert(livesIn("Faro"))).outcome).toBe("added");
  });
});

describe("a fact deleted by its id", () => {
  it.each(EVERY)("is removed as a whole if it %s, is not missing, and can be recorded again", async (state) => {
    const { session, memory } = await begin();
    const { fact } = await session.facts.upsert(livesIn("Porto"));
    if (state === "ended") await session.facts.end(fact.id);
    if (state === "retracted") await session.facts.retract(fact.id);
    expect(await memory.session({ user: "bob" }).delete([fact.id])).toMatchObject({ facts: 0, missing: [fact.id] });
    const receipt = await session.delete([fact.id, "nothing"]);
    expect(receipt).toMatchObject({ facts: 1, items: state === "holds" ? 1 : 0, missing: ["nothing"] });
    expect(await session.facts.get([fact.id])).toEqual([]);
    expect(await session.delete([fact.id])).toMatchObject({ facts: 0, missing: [fact.id] });
    const again = await session.facts.upsert(livesIn("Porto"));
    expect(again).toMatchObject({ outcome: "added", fact: { id: fact.id, version: 1 } });
    expect(again.fact.spans).toHaveLength(1);
    expect(contents(await session.query("Porto"))).toEqual(["Ada lives in Porto"]);
  });

  it("is no longer named by its predecessor", async () => {
    const { session, clock } = await begin();
    const porto = (await session.facts.upsert(livesIn("Porto"))).fact.id;
    clock.advance(1);
    const lisbon = (await session.facts.upsert(livesIn("Lisbon", { supersedes: porto }))).fact.id;
    await session.delete([lisbon]);
    const [fact] = await session.facts.get([porto]);
    expect(fact).toMatchObject({ state: "ended" });
    expect(JSON.stringify(fact)).not.toContain(lisbon);
  });

  it("removes the facts that have it as their only source, recursively", async () => {
    const { session } = await begin();
    const first = (await session.facts.upsert(livesIn("Porto"))).fact.id;
    const second = await learn(session, "a flat in Porto", first);
    await learn(session, "two rooms of a flat in Porto", second);
    expect(await session.delete([first])).toMatchObject({ items: 3, facts: 3, left: [] });
    expect((await session.facts.list({ state: EVERY })).items).toEqual([]);
  });
});

describe("promoted copies", () => {
  it("are named in the receipt of the original, as a fact and as a message, until they are forgotten too", async () => {
    const { session, memory } = await begin();
    const crew = memory.session({ user: "ada", team: "crew", space: "team" });
    const owner = memory.session({ user: "ada", session: "monday", team: "crew" });
    const message = await say(session, "the door code is 4711");
    const fact = await learn(session, "Porto", message);
    await owner.promote([message, fact], { to: { team: "crew" }, reason: "all should know" });
    const receipt = await session.delete([message]);
    expect(receipt).toMatchObject({ items: 2, facts: 1 });
    expect(leftOf(receipt, "2 copies in other spaces")).toContain("promoted");
    expect(contents(await crew.query("door code Porto"))).toHaveLength(2);
    expect(await crew.delete([message, fact])).toMatchObject({ items: 2, facts: 1, missing: [], left: [] });
    expect((await crew.list()).items).toEqual([]);
  });

  it("that are already gone are not named", async () => {
    const { session, memory } = await begin();
    const owner = memory.session({ user: "ada", session: "monday", team: "crew" });
    const message = await say(session, "the door code is 4711");
    await owner.promote([message], { to: { team: "crew" }, reason: "all should know" });
    await memory.session({ team: "crew" }).delete([message]);
    expect((await session.delete([message])).left).toEqual([]);
  });
});

describe("the bytes", () => {
  it("of facts and what they rested on leave the file: past, retracted, and learned by meaning", async () => {
    const life = await begin({ path: newPath(), embedder: new HashEmbedder() });
    const { session } = life;
    const words = ["quixotrylamb", "zebulonfact", "wombatical", "xylocarpous", "jabberhome"];
    const message = await say(session, `I said ${words[0]} once`);
    await learn(session, words[1] ?? "", message);
    await session.facts.end(await learn(session, words[2] ?? "", message));
    await session.facts.retract(await learn(session, words[3] ?? "", message));
    await session.facts.upsert({ category: words[4] ?? "", content: "a category too", source: { message } });
    await life.memory.flush();
    expect(inFiles(life.path, words)).toEqual(words);
    expect(await session.delete([message])).toMatchObject({ facts: 4, purged: true });
    expect(inFiles(life.path, words)).toEqual([]);
    const again = await reopen(life, { embedder: new HashEmbedder() });
    expect(inFiles(again.path, words)).toEqual([]);
    expect(await again.session.query(words.join(" "))).toHaveLength(0);
  });
});
