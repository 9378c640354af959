import { describe, expect, it } from "vitest";
import { Caller } from "../calls/caller.js";
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { ApiKey } from "../stores/keys.js";
import { whileAuthorized } from "./validity.js";

const key: ApiKey = { id: "k", access: "write", spaces: [{ user: "ada" }], createdAt: 0 };
const caller = new Caller(key);

/** Advances ten seconds before each item. */
async function streamed(count: number, confirm: () => Promise<Caller>) {
  let ms = 0;
  const clock: Clock = { now: () => ms, passed: () => ms, after: () => () => {} };
  async function* things(): AsyncGenerator<number> {
    for (let at = 1; at <= count; at++) {
      ms += 10_000;
      yield at;
    }
  }
  const seen: number[] = [];
  try {
    for await (const one of whileAuthorized(things(), { clock, caller, confirm })) seen.push(one);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { seen, code: error.code };
  }
  return { seen, code: undefined };
}

describe("a stream whose key is asked for again", () => {
  it("continues while the key is unchanged, and checks at most every 15 seconds", async () => {
    let asked = 0;
    const outcome = await streamed(6, async () => {
      asked++;
      return new Caller({ ...key, spaces: [{ user: "ada" }] });
    });
    expect(outcome).toEqual({ seen: [1, 2, 3, 4, 5, 6], code: undefined });
    expect(asked).toBe(3);
  });

  it("ends when the key opens nothing any more", async () => {
    const revoked = new HoldfastError("unauthorized", "the API key is not valid");
    expect(await streamed(3, () => Promise.reject(revoked))).toEqual({ seen: [1], code: "unauthorized" });
  });

  it("ends when the key covers other spaces than before: the name may be another's by now", async () => {
    const renamed = new Caller({ ...key, spaces: [{ user: "ada lovelace" }] });
    expect(await streamed(3, async () => renamed)).toEqual({ seen: [1], code: "forbidden" });
  });
});
