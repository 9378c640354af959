/** Arguments that TypeScript would reject: the error is always a HoldfastError with a hint. */
import { HoldfastError, importLines, type Memory, openMemory } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { expect, it } from "vitest";
import { open } from "../support/opened.js";

const anything = (value: unknown) => value as never;

const CALLS: readonly (readonly [name: string, call: (memory: Memory) => Promise<unknown>])[] = [
  ["users.create with options for a description", ({ users }) => users.create("x", anything({ idempotencyKey: "k" }))],
  ["users.amend without a change", ({ users }) => users.amend("x", anything(undefined))],
  ["users.amend with null", ({ users }) => users.amend("x", anything(null))],
  ["users.amend with an unknown key", ({ users }) => users.amend("x", anything({ descripton: "y" }))],
  ["users.list with null", ({ users }) => users.list(anything(null))],
  ["sessions.list with null", ({ sessions }) => sessions.list(anything(null))],
  ["reindex with null", (memory) => memory.reindex(anything(null))],
  ["commit of null", (memory) => memory.session({ user: "x" }).commit(anything(null))],
  ["importLines of null", (memory) => importLines(memory, anything(null))],
  ["importLines of a number", (memory) => importLines(memory, anything(5))],
  ["openMemory with null", () => openMemory(anything(null))],
  ["openMemory with a number", () => openMemory(anything(5))],
];

it.each(CALLS)("%s is refused with a hint", async (_, call) => {
  const memory = await open({ path: ":memory:" });
  const error = await (async () => call(memory))().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: "invalid_input", hint: expect.stringMatching(/\w/) });
});

it("options of null are no options, also to what observes questions", async () => {
  const clock = new FakeClock();
  const memory = await open({ path: ":memory:", clock });
  const session = memory.session({ user: "ada", session: "s" });
  await session.add([{ id: "a", role: "user", content: "a cat" }]);
  clock.advance(10);
  expect((await session.query("cat", anything(null))).map(({ id }) => id)).toEqual(["a"]);
  expect(() => clock.advance(10)).not.toThrow();
});

it("options that the caller changes afterwards are observed as they were", async () => {
  const clock = new FakeClock();
  const memory = await open({ path: ":memory:", clock });
  const session = memory.session({ user: "ada", session: "s" });
  const options = { topK: 1 };
  await session.query("cat", options);
  Object.assign(options, { topK: 10n }); // no JSON
  clock.advance(10);
  await session.query("cat", { topK: 2 });
  expect(() => clock.advance(10)).not.toThrow();
});
