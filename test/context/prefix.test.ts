/** The prefix through the public API: the same bytes until a block or a pinned fact changes, whatever else happens. */
import { renderText, type Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";

const TURNS = 50;
const WORDS = ["harbour", "lamp", "storm", "boat", "market", "cheese"] as const;

/** Random events in a memory, each with a number to make it new. */
type Event = (session: Session, number: number, random: Random) => Promise<unknown>;

const ASIDE: { readonly [name: string]: Event } = {
  say: (session, number) => session.add([{ role: "user", content: `the harbour, for the ${number}. time` }]),
  know: (session, number) => session.facts.upsert({ category: "sight", content: `boat ${number} was seen` }),
  believe: (session, number) =>
    session.facts.upsert({ category: "name", content: "Her name is Ada", confidence: 1 / number, pinned: true }),
  reset: (session) => session.windowReset(),
  lose: async (session, _, random) => {
    const { items } = await session.list({ kind: "message" });
    if (items.length > 0) await session.delete([random.pick(items).id]);
  },
  settle: (session, number) => session.blocks.configure("persona", { maxTokens: 4_000 + number }),
};

const CARRIED: { readonly [name: string]: Event } = {
  edit: (session, number) => session.blocks.edit("persona", { content: `She likes tea no. ${number}.` }),
  append: (session, number) => session.blocks.edit("persona", { append: `\nLine ${number}.` }),
  describe: (session, number) => session.blocks.configure("persona", { description: `what we know, ${number}` }),
  rename: async (session, number) => {
    const [block] = (await session.blocks.list()).filter(({ name }) => name !== "persona");
    if (block) await session.blocks.rename(block.name, `notes ${number}`);
  },
  pin: (session, number) => session.facts.upsert({ category: "pin", content: `Fact ${number} holds`, pinned: true }),
  unpin: async (session, number) => {
    const { items } = await session.facts.list({ category: "pin", pinned: true });
    const ended = items[0] && (await session.facts.end(items[0].id));
    return ended ?? session.facts.upsert({ category: "pin", content: `Fact ${number} holds`, pinned: true });
  },
};

describe("the prefix", () => {
  it("is the same over 50 random turns, and changes exactly when a block or a pinned fact does", async () => {
    const random = new Random(testSeed("prefix"));
    const path = newPath();
    // By this clock no deadline passes, however busy the machine is.
    const clock = new FakeClock(Date.now());
    let memory = await open({ path, clock });
    const scope = { user: "ada", session: "now" };
    await memory.session(scope).blocks.create({ name: "persona", content: "She likes tea." });
    await memory.session(scope).blocks.create({ name: "notes", content: "Call back on Monday." });
    await memory.session(scope).facts.upsert({ category: "name", content: "Her name is Ada", pinned: true });
    let { prefix } = await memory.session(scope).context();
    expect(prefix).toContain("She likes tea.");
    let changed = 0;
    for (let turn = 1; turn <= TURNS; turn++) {
      const isCarried = random.chance(0.2);
      const events = isCarried ? CARRIED : ASIDE;
      const name = random.pick(Object.keys(events));
      if (random.chance(0.1)) {
        await memory.close();
        memory = await open({ path, clock });
      }
      const session = memory.session(random.chance(0.2) ? { user: "ada", session: "other" } : scope);
      await events[name]?.(session, turn, random);
      const context = await session.context({
        ...(random.chance(0.8) && { query: random.pick(WORDS) }),
        ...(random.chance(0.3) && { askedAt: random.between(0, 2e12), asOf: Date.now() }),
        turns: random.between(0, 5),
        topK: random.between(1, 20),
        fresh: random.chance(0.3),
        dryRun: random.chance(0.1),
      });
      expect({ turn, name, isSame: context.prefix === prefix }).toEqual({ turn, name, isSame: !isCarried });
      expect(renderText(context).startsWith(prefix) || isCarried).toBe(true);
      changed += Number(isCarried);
      prefix = context.prefix;
    }
    expect(changed).toBeLessThan(TURNS / 2);
  });

  it("contains a block's current text, and nothing of a removed block", async () => {
    const memory = await open({ path: ":memory:", clock: new FakeClock() });
    const session = memory.session({ user: "ada", session: "now" });
    await session.blocks.create({ name: "persona", content: "She likes tea." });
    expect((await session.context()).prefix).toContain("> She likes tea.");
    await session.blocks.edit("persona", { replace: "tea", with: "coffee" });
    expect((await session.context()).prefix).toMatch(/\[block persona\]\n> She likes coffee\.$/);
    await session.blocks.delete("persona");
    expect((await session.context()).prefix).toBe("");
  });
});
