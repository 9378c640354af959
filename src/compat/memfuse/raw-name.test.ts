import { describe, expect, it } from "vitest";
import { z } from "zod";
import { queryWithName } from "./raw-name.js";

const users = z.strictObject({ name: z.string(), limit: z.string(), cursor: z.string() });
const sessions = z.strictObject({ name: z.string(), user_id: z.string(), agent_id: z.string(), limit: z.string() });

const read = (search: string, schema = users as z.ZodObject) => queryWithName(`http://x/api/v1/users${search}`, schema);

describe("a query string with a name", () => {
  it.each([
    ["?name=Tom%20&%20Jerry", { name: "Tom & Jerry" }],
    ["?name=Tom+&+Jerry", { name: "Tom & Jerry" }],
    ["?name=Tom%20%26%20Jerry", { name: "Tom & Jerry" }],
    ["?name=a&b=c&d", { name: "a&b=c&d" }],
    ["?name=&", { name: "&" }],
    ["?name=a&name=b", { name: "a&name=b" }],
    ["?name=a&limit=5&b", { name: "a&limit=5&b" }],
    ["?name=a%26limit=5", { name: "a&limit=5" }],
    ["?limit=5&name=a", { limit: "5", name: "a" }],
    ["?name=", { name: "" }],
    ["?name", { name: "" }],
    ["?name=100%25&x", { name: "100%&x" }],
    ["?name=J%C3%B6rg#part", { name: "Jörg" }],
    ["?limit=5&cursor=x%20y", { limit: "5", cursor: "x y" }],
    ["?", {}],
    ["", {}],
  ])("%s", (search, expected) => {
    expect(read(search)).toEqual(expected);
  });

  it.each([
    ["?name=a&b&user_id=1", { name: "a&b", user_id: "1" }],
    ["?name=a&user_id=1&agent_id=2", { name: "a", user_id: "1", agent_id: "2" }],
    ["?name=a&user_id=evil&user_id=1", { name: "a&user_id=evil", user_id: "1" }],
    ["?user_id=1&name=a&b", { user_id: "1", name: "a&b" }],
    ["?user_id=1&agent_id=2", { user_id: "1", agent_id: "2" }],
  ])("%s, with ids after the name", (search, expected) => {
    expect(read(search, sessions)).toEqual(expected);
  });

  it.each(["?name=a&limit=5", "?name=a&cursor=", "?name=a&b&limit=5&user_id=1"])("%s is not guessed at", (search) => {
    const both = z.strictObject({ ...users.shape, ...sessions.shape });
    expect(() => read(search, both)).toThrow(/cannot be combined with a name/);
  });
});
