import { expect, it } from "vitest";
import { hasColor } from "./style.js";

const terminal = { isTTY: true };
const pipe = {};

it.each([
  ["on a terminal", terminal, {}, true],
  ["not in a pipe", pipe, {}, false],
  ["not with NO_COLOR", terminal, { NO_COLOR: "1" }, false],
  ["with an empty NO_COLOR, which says nothing", terminal, { NO_COLOR: "" }, true],
  ["not on a terminal that cannot", terminal, { TERM: "dumb" }, false],
  ["in a pipe that is said to want it", pipe, { FORCE_COLOR: "1" }, true],
  ["not where FORCE_COLOR forbids it", terminal, { FORCE_COLOR: "0" }, false],
  ["not with NO_COLOR, whatever FORCE_COLOR says", terminal, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
])("there is colour %s", (_, stream, env, expected) => {
  expect(hasColor(stream, env)).toBe(expected);
});
