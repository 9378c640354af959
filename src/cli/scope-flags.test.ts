import { expect, it } from "vitest";
import { parseScope } from "../input/scope.js";
import { type ScopeFlags, scopeOf, scopeText, spaceOf } from "./scope-flags.js";

const CASES: readonly (readonly [ScopeFlags, string])[] = [
  [{}, "user default"],
  [{ session: "monday" }, "user default · session monday"],
  [{ user: "ada" }, "user ada"],
  [{ user: "ada", agent: "tutor", session: "monday" }, "user ada · agent tutor · session monday"],
  [{ agent: "tutor" }, "agent tutor"],
  [{ team: "docs" }, "team docs"],
  [{ team: "docs", agent: "tutor" }, "team docs · agent tutor"],
  [{ user: "ada", team: "docs", space: "team" }, "team docs"],
  [{ user: "ada", agent: "tutor", space: "agent" }, "agent tutor"],
];

it.each(CASES)("%j is %s", (flags, text) => {
  expect(scopeText(scopeOf(flags))).toBe(text);
});

it("the space it names is the one that the engine chooses", () => {
  for (const [flags] of CASES) expect(spaceOf(scopeOf(flags))).toEqual(parseScope(scopeOf(flags)).space);
});
