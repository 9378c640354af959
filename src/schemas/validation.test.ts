import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { HoldfastError } from "../errors.js";
import { parseWith } from "./validation.js";

const Schema = z.strictObject({
  topK: z.number().exactOptional(),
  messages: z.array(z.strictObject({ role: z.enum(["user", "tool"]), content: z.string() })).exactOptional(),
  target: z.union([z.strictObject({ user: z.string() }), z.strictObject({ team: z.string() })]).exactOptional(),
  times: z.array(z.number().int().min(1)).nullable().exactOptional(),
});
const BODY = { whole: "the body", hint: "see /docs" };

function refusal(value: unknown, schema: z.ZodType = Schema, more: object = {}): HoldfastError {
  try {
    parseWith(schema, value, { ...BODY, ...more });
  } catch (error) {
    return error as HoldfastError;
  }
  throw new Error("it was accepted");
}

describe("validation by a schema", () => {
  it("returns what the schema makes of a value", () => {
    expect(parseWith(z.object({ n: z.coerce.number() }), { n: "5" }, BODY)).toEqual({ n: 5 });
  });

  it.each([
    [
      { topk: 1 },
      'the body has an unknown key "topk"; did you mean "topK"?',
      "known keys: topK, messages, target, times",
    ],
    [
      { limit: 1 },
      'the body has an unknown key "limit"; did you mean "topK"?',
      "known keys: topK, messages, target, times",
    ],
    [
      { messages: [{ role: "user", content: "x", contnt: "x" }] },
      'messages[0] has an unknown key "contnt"; did you mean "content"?',
      "known keys: role, content",
    ],
    [
      { messages: [{ role: "usr", content: "x" }] },
      'messages[0].role must be one of "user", "tool", got "usr"; did you mean "user"?',
      "see /docs",
    ],
    [
      { target: { user: "x", usr: "x" } },
      'target has an unknown key "usr"; did you mean "user"?',
      "known keys: user, team",
    ],
    [{ topK: "3" }, "topK must be a number, got a string", "see /docs"],
    [{ messages: {} }, "messages must be a list, got an object", "see /docs"],
    [{ messages: [null] }, "messages[0] must be an object, got null", "see /docs"],
    [{ times: [0] }, "times[0] is not valid: too small: expected number to be >=1", "see /docs"],
    [[], "the body must be an object, got a list", "see /docs"],
  ])("refuses %j as the library would", (value, message, hint) => {
    expect(refusal(value)).toMatchObject({ code: "invalid_input", message, hint });
  });

  it("names the mistyped key before the key that is missing because of it", () => {
    const { message, details } = refusal({ contnt: "x" }, z.strictObject({ content: z.string() }));
    expect(message).toBe('the body has an unknown key "contnt"; did you mean "content"?');
    expect(details["fields"]).toEqual([
      { field: "", message: 'has an unknown key "contnt"; did you mean "content"?' },
      { field: "content", message: "must be a string, got undefined" },
    ]);
  });

  it("knows keys that were taken out before, and says where none are known", () => {
    expect(refusal({ usr: "x" }, Schema, { otherKeys: ["user"] }).message).toContain('did you mean "user"?');
    expect(refusal({ a: 1 }, z.strictObject({})).hint).toBe("no keys are known here");
  });

  it("reports a few of a million faults, and little of a long one", () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`key${at}`, at]));
    expect(refusal(many).details["fields"]).toHaveLength(20);
    expect(refusal({ ["x".repeat(100_000)]: 1 }).message.length).toBeLessThan(200);
  });
});
