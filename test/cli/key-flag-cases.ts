/** --idempotency-key: for every command that accepts it, the second run changes nothing and prints the same. */
import { expect } from "vitest";
import type { As } from "./flag-cases.js";

/** Runs it twice with one key. */
async function twice(as: As, ...argv: readonly string[]): Promise<void> {
  const first = await as.json(...argv, "--idempotency-key", "k");
  expect(await as.json(...argv, "--idempotency-key", "k")).toEqual(first);
}

const version = async (as: As): Promise<number> =>
  (await as.json<{ readonly version: number }>("blocks", "show", "b")).version;

export const KEY_FLAG_CASES: { readonly [flag: string]: (as: As) => Promise<void> } = {
  "context --idempotency-key": async (as) => {
    await as.json("add", "tea at four", "--session", "s");
    await twice(as, "context", "tea", "--session", "s");
    expect(await as.json("context", "tea", "--session", "s")).toMatchObject({ tail: "" });
  },
  "blocks create --idempotency-key": (as) => twice(as, "blocks", "create", "b", "text"),
  "blocks edit --idempotency-key": async (as) => {
    await as.block("one");
    await twice(as, "blocks", "edit", "b", "--append", "two");
    expect(await as.edited("--append", "three")).toBe("one\ntwo\nthree");
  },
  "blocks configure --idempotency-key": async (as) => {
    await as.block("one");
    await twice(as, "blocks", "configure", "b", "--max-tokens", "9");
    expect(await version(as)).toBe(2);
  },
  "blocks rename --idempotency-key": async (as) => {
    await as.block("one");
    await twice(as, "blocks", "rename", "b", "c");
  },
  "blocks restore --idempotency-key": async (as) => {
    await as.block("one");
    await twice(as, "blocks", "restore", "b", "1");
    expect(await version(as)).toBe(2);
  },
  "facts add --idempotency-key": (as) => twice(as, "facts", "add", "home", "lives in Lisbon"),
  "facts end --idempotency-key": async (as) => {
    const id = await as.fact("home", "lives in Lisbon");
    await twice(as, "facts", "end", id);
    await as.fact("home", "lives in Lisbon");
    await as.json("facts", "end", id, "--idempotency-key", "k");
    expect(await as.facts("list"), "a late retry does not end it again").toEqual(["lives in Lisbon"]);
  },
  "facts retract --idempotency-key": async (as) => {
    const id = await as.fact("home", "lives in Lisbon");
    await twice(as, "facts", "retract", id);
    await as.fact("home", "lives in Lisbon", "--force");
    await as.json("facts", "retract", id, "--idempotency-key", "k");
    expect(await as.facts("list"), "a late retry does not retract it again").toEqual(["lives in Lisbon"]);
  },
  "sessions rename --idempotency-key": async (as) => {
    await as.json("add", "x", "--session", "monday");
    await twice(as, "sessions", "rename", "monday", "tuesday");
  },
  "key create --idempotency-key": async (as) => {
    const create = ["key", "create", "--user", as.user, "--idempotency-key", as.user, "--json"];
    expect((await as.anyone(create)).code).toBe(0);
    const again = await as.anyone(create);
    expect(again.code).not.toBe(0);
    expect(again.out + again.err).toContain("shown once");
  },
};
