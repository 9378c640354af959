/** Access: the scope's spaces and the granted ones, and no others, by any call and any option. */
import type { Context, Memory, Session, SpaceRef } from "holdfast";
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { ADA, BOB, CREW, gather, NOON, ownersIn } from "./company.js";

type Read = (session: Session, spaces?: readonly SpaceRef[]) => Promise<unknown>;

const named = (spaces: readonly SpaceRef[] | undefined) => (spaces ? { spaces } : {});
const shown = ({ prefix, tail }: Context) => [prefix, tail];

/** Every call that names spaces. */
const READS: readonly (readonly [string, Read])[] = [
  ["query", (session, spaces) => session.query("orchid", named(spaces))],
  ["a query for facts", (session, spaces) => session.query("orchid", { kind: "fact", ...named(spaces) })],
  ["facts.list", (session, spaces) => session.facts.list(named(spaces))],
  ["facts.list of another time", (session, spaces) => session.facts.list({ asOf: NOON, ...named(spaces) })],
  ["facts.query", (session, spaces) => session.facts.query("orchid", named(spaces))],
  ["facts.query of another time", (session, spaces) => session.facts.query("orchid", { asOf: NOON, ...named(spaces) })],
  ["context", async (s, spaces) => shown(await s.context({ query: "orchid", fresh: true, ...named(spaces) }))],
];

describe.each([
  ["by words", () => ({})],
  ["by meaning", () => ({ embedder: new HashEmbedder() })],
])("reading %s", (_, options) => {
  it("stays in its own space unless others are named, and spans those that may be read", async () => {
    const { memory, ada, crew } = await gather(options());
    await memory.flush();
    const member = memory.session({ ...ADA, ...CREW, session: "s" });
    for (const [name, read] of READS) {
      expect(ownersIn(await read(ada)), name).toEqual(["ada"]);
      expect(ownersIn(await read(crew)), name).toEqual(["crew"]);
      expect(ownersIn(await read(member)), name).toEqual(["ada"]);
      expect(ownersIn(await read(ada, [CREW])), name).toEqual(["crew"]);
      expect(ownersIn(await read(ada, [ADA, CREW])), name).toEqual(["ada", "crew"]);
      expect(ownersIn(await read(member, [CREW, ADA])), name).toEqual(["ada", "crew"]);
    }
  });

  it("is refused as a whole if one space was not granted, by every call", async () => {
    const { memory, ada, bob, crew } = await gather(options());
    const before = (await memory.stats()).query;
    for (const [name, read] of READS) {
      for (const [session, spaces] of [
        [ada, [BOB]],
        [ada, [ADA, CREW, BOB]],
        [bob, [BOB, ADA]],
        [crew, [ADA]],
        [memory.session({ agent: "tutor" }), [ADA]],
      ] as const) {
        const refusal = {
          code: "forbidden",
          details: { space: spaces.at(-1) },
          hint: expect.stringContaining("grant"),
        };
        await expect(read(session, spaces), name).rejects.toMatchObject(refusal);
      }
    }
    expect((await memory.stats()).query).toEqual(before); // no search was made
  });
});

describe("a member's memory", () => {
  it("is in no answer to another member, whatever the question and filter", async () => {
    const { memory, bob } = await gather();
    const fact = (await memory.session(ADA).facts.list()).items[0]?.id ?? "";
    const both = { spaces: [BOB, CREW] };
    const answers: readonly unknown[] = [
      await bob.query("the orchid plan of ada", { ...both, topK: 1000 }),
      await bob.query("orchid", { ...both, session: "s", explain: ["ada note", fact] }),
      await bob.query("orchid", { within: "session" }),
      await bob.get(["ada note", fact]),
      await bob.list({ session: "s", limit: 1000 }),
      await bob.facts.get([fact]),
      await bob.facts.list({ ...both, state: ["holds", "ended", "retracted"] }),
      await bob.context({ ...both, query: "the orchid plan of ada", dryRun: true, budgetTokens: 100_000, topK: 1000 }),
      await bob.blocks.list(),
      await bob.promotions(),
      await bob.parked(),
      (await bob.conversation()).turns,
    ];
    for (const [at, answer] of answers.entries()) expect(ownersIn(answer), `answer ${at}`).not.toContain("ada");
    expect(ownersIn(answers[0])).toEqual(["bob", "crew"]);
  });

  it("cannot be changed by another member: not edited, deleted, ended, retracted, promoted or superseded", async () => {
    const { memory, bob } = await gather();
    const ada = memory.session(ADA);
    const fact = (await ada.facts.list()).items[0]?.id ?? "";
    const before = [await ada.facts.list(), await ada.list({ limit: 100 })];
    const missing = { code: "not_found" };
    await expect(bob.update("ada note", { content: "x" })).rejects.toMatchObject(missing);
    await expect(bob.facts.end(fact)).rejects.toMatchObject(missing);
    await expect(bob.facts.retract(fact)).rejects.toMatchObject(missing);
    await expect(bob.promote([fact], { to: CREW, reason: "r" })).rejects.toMatchObject(missing);
    await expect(bob.promote(["bob note"], { to: ADA, reason: "r" })).rejects.toMatchObject({ code: "forbidden" });
    const stolen = { category: "c", content: "x", source: { message: "ada note" } };
    await expect(bob.facts.upsert(stolen)).rejects.toMatchObject(missing);
    expect(await bob.delete(["ada note", fact])).toMatchObject({ items: 0, facts: 0, missing: ["ada note", fact] });
    expect([await ada.facts.list(), await ada.list({ limit: 100 })]).toEqual(before);
  });
});

describe("writes", () => {
  it("go to exactly one space, which the scope determines", async () => {
    const { memory } = await gather();
    const scope = { user: "eve", team: "pack", agent: "tutor", session: "s" };
    const write = async (session: Session, name: string): Promise<void> => {
      await session.add([{ id: `m ${name}`, role: "user", content: `tulip ${name}` }]);
      await session.facts.upsert({ category: "c", content: `tulip fact ${name}` });
      await session.blocks.create({ name: "b", content: `tulip ${name}` });
    };
    await write(memory.session(scope), "user");
    await write(memory.session({ ...scope, space: "team" }), "team");
    await write(memory.session({ ...scope, space: "agent" }), "agent");
    for (const [space, name] of [
      [{ user: "eve" }, "user"],
      [{ team: "pack" }, "team"],
      [{ agent: "tutor" }, "agent"],
    ] as const) {
      const session = memory.session(space);
      expect((await session.list({ kind: "message" })).items.map(({ id }) => id)).toEqual([`m ${name}`]);
      expect((await session.facts.list()).items.map(({ content }) => content)).toEqual([`tulip fact ${name}`]);
      expect((await session.blocks.get("b"))?.content).toBe(`tulip ${name}`);
    }
    const all = memory.session(scope);
    const spaces = [{ user: "eve" }, { team: "pack" }, { agent: "tutor" }];
    expect(await all.query("tulip", { spaces, kind: "message" })).toHaveLength(3);
  });

  it("are not widened by grants", async () => {
    const { memory, ada, crew } = await gather();
    const before = (await crew.list({ limit: 100 })).items.length;
    await ada.add([{ role: "user", content: "new" }]);
    await ada.facts.upsert({ category: "c", content: "new" });
    await ada.forget();
    await memory.session(ADA, { grants: [CREW] }).forget();
    expect((await crew.list({ limit: 100 })).items).toHaveLength(before);
    expect((await crew.facts.list()).items).toHaveLength(1);
  });
});

describe("grants", () => {
  const session = (memory: Memory, options: unknown) =>
    memory.session(ADA, options as Parameters<typeof memory.session>[1]);

  it("are checked when the handle is created", async () => {
    const { memory } = await gather({ path: ":memory:" });
    for (const grants of [
      CREW,
      "crew",
      null,
      [{}],
      [{ team: "" }],
      [{ team: "crew", user: "bob" }],
      [{ group: "crew" }],
      [undefined],
      [{ team: "crew" }, { user: 3 }],
    ]) {
      expect(() => session(memory, { grants }), JSON.stringify(grants)).toThrow(
        expect.objectContaining({ code: "invalid_input" }),
      );
    }
    expect(() => session(memory, { grant: [CREW] })).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(ownersIn(await session(memory, { grants: [] }).query("orchid"))).toEqual(["ada"]);
  });

  it("apply to that handle alone, and are not affected by changes of the given list", async () => {
    const { memory } = await gather({ path: ":memory:" });
    const grants: SpaceRef[] = [CREW];
    const granted = memory.session(ADA, { grants });
    grants.push(BOB);
    await expect(granted.query("orchid", { spaces: [BOB] })).rejects.toMatchObject({ code: "forbidden" });
    await expect(memory.session(ADA).query("orchid", { spaces: [CREW] })).rejects.toMatchObject({ code: "forbidden" });
    expect(ownersIn(await granted.query("orchid", { spaces: [CREW] }))).toEqual(["crew"]);
  });

  it("name a space of one kind: a user, a team and an agent of one name are three", async () => {
    const { memory } = await gather({ path: ":memory:" });
    const crewUser = memory.session({ user: "crew" }, { grants: [{ agent: "crew" }] });
    await expect(crewUser.query("orchid", { spaces: [CREW] })).rejects.toMatchObject({ code: "forbidden" });
    expect(await crewUser.query("orchid", { spaces: [{ agent: "crew" }] })).toHaveLength(0);
  });

  it("an invalid space is refused as bad input, not as forbidden", async () => {
    const { ada } = await gather({ path: ":memory:" });
    for (const spaces of [[], [{}], [{ ...CREW, ...BOB }], CREW, [null], [{ team: "crew", session: "s" }]]) {
      for (const [name, read] of READS) {
        const call = read(ada, spaces as readonly SpaceRef[]);
        await expect(call, `${name} ${JSON.stringify(spaces)}`).rejects.toMatchObject({ code: "invalid_input" });
      }
    }
  });
});
