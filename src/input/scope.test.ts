import fc from "fast-check";
import { expect, test } from "vitest";
import { parseScope, parseSpace, parseSpaces } from "./scope.js";

const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

test.each([
  [{ user: "ada" }, { space: { user: "ada" } }],
  [{ agent: "tutor" }, { space: { agent: "tutor" }, agent: "tutor" }],
  [{ team: "red" }, { space: { team: "red" } }],
  [
    { user: "ada", agent: "tutor", session: "s" },
    { space: { user: "ada" }, agent: "tutor", session: "s" },
  ],
  [
    { team: "red", agent: "tutor" },
    { space: { team: "red" }, agent: "tutor" },
  ],
  [{ user: "ada", team: "red" }, { space: { user: "ada" } }],
  [{ user: "ada", team: "red", space: "team" }, { space: { team: "red" } }],
  [
    { user: "ada", agent: "tutor", space: "agent" },
    { space: { agent: "tutor" }, agent: "tutor" },
  ],
  [{ user: "ada", session: undefined, agent: undefined, space: undefined }, { space: { user: "ada" } }],
])("%j stands in %j", (scope, parsed) => expect(parseScope(scope)).toStrictEqual(parsed));

test.each([
  [{}, "scope must name a user, a team or an agent"],
  [{ session: "s" }, "scope must name a user, a team or an agent"],
  [{ user: undefined }, "scope must name a user, a team or an agent"],
  [{ user: "ada", space: "team" }, 'scope.space is "team", but the scope names no team'],
  [{ user: "ada", space: "usr" }, 'got "usr"; did you mean "user"?'],
  [{ user: "" }, "scope.user must not be empty"],
  [{ user: "ada", team: "a\0" }, "scope.team must not contain NUL"],
  [{ user: "ada", agent: 5 }, "scope.agent must be a string, got a number"],
  [{ user: "ada", session: null }, "scope.session must be a string, got null"],
  [{ user_id: "ada" }, 'scope has an unknown key "user_id"; did you mean "user"?'],
  [{ user: "ada", sessionId: "s" }, 'scope has an unknown key "sessionId"; did you mean "session"?'],
  ["ada", "scope must be an object, got a string"],
  [undefined, "scope must be an object, got undefined"],
])("%j is refused", (scope, message) => expect(() => parseScope(scope)).toThrow(refused("invalid_input", message)));

test("two different users never share a space", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(name, name, (a, b) => {
      const same = JSON.stringify(parseScope({ user: a }).space) === JSON.stringify(parseScope({ user: b }).space);
      expect(same).toBe(a === b);
    }),
  );
});

test("a space is exactly one of user, team or agent", () => {
  for (const space of [{ user: "a" }, { team: "a" }, { agent: "a" }]) expect(parseSpace(space)).toStrictEqual(space);
  const error = refused("invalid_input", "space must name exactly one of user, team or agent");
  expect(() => parseSpace({})).toThrow(error);
  expect(() => parseSpace({ user: "a", agent: "b" })).toThrow(error);
  expect(() => parseSpace({ session: "a" })).toThrow(refused("invalid_input", 'unknown key "session"'));
  expect(() => parseSpace({ user: "x".repeat(513) })).toThrow(refused("too_large", "space.user is over"));
});

test("spaces are a list of at least one, each once", () => {
  expect(parseSpaces([{ user: "a" }, { agent: "a" }, { user: "a" }])).toStrictEqual([{ user: "a" }, { agent: "a" }]);
  expect(() => parseSpaces([])).toThrow(refused("invalid_input", "spaces must name at least one space"));
  expect(() => parseSpaces({ user: "a" })).toThrow(refused("invalid_input", "spaces must be a list of spaces"));
  expect(() => parseSpaces([{ user: "a" }, {}])).toThrow(refused("invalid_input", "spaces[1] must name exactly one"));
  expect(() => parseSpaces(Array(101).fill({ user: "a" }))).toThrow(refused("too_large", "spaces is over"));
  expect(() => parseSpaces(Array(3))).toThrow(refused("invalid_input", "spaces[0] must be an object"));
});
