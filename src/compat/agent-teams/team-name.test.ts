import { describe, expect, it } from "vitest";
import { parseTeamName } from "./team-name.js";

describe("a name of a team or an agent", () => {
  it.each([
    "agent1",
    "Team 7",
    "a.b",
    "日本語",
    "Zoë",
    "مریم",
    "👩‍🚀",
    "con-man",
    "com",
    "com10",
    "lock",
    "x".repeat(128),
    "a~1",
  ])("may be %j", (name) => {
    expect(parseTeamName(name, "team")).toBe(name);
  });

  it.each([
    "",
    ".",
    "..",
    "../x",
    "x/../y",
    "a/b",
    "/etc",
    "a\\b",
    "..\\x",
    "C:",
    "c:x",
    "a..b",
    ".lock",
    ".hidden",
    "x.",
    "x ",
    " x",
    "\u3000x",
    "x\0",
    "x\n",
    "x\u007f",
    "x\u0085y",
    "x\u2028y",
    "a*",
    "a?",
    'a"',
    "<a",
    "a>",
    "a|b",
    "CON",
    "con",
    "nul",
    "NUL.txt",
    "aux .x",
    "com1",
    "COM9.log",
    "LPT0",
    "com¹",
    "CONIN$",
    "x\uD800",
  ])("cannot be %j", (name) => {
    expect(() => parseTeamName(name, "team")).toThrow(
      expect.objectContaining({ code: "invalid_input", details: { field: "team" } }),
    );
  });

  it("is text of at most 128 bytes", () => {
    expect(() => parseTeamName("é".repeat(65), "agent")).toThrow(expect.objectContaining({ code: "too_large" }));
    expect(() => parseTeamName(7, "agent")).toThrow("agent must be a string, got a number");
    expect(() => parseTeamName(undefined, "agent")).toThrow("agent must be a string, got undefined");
  });

  it("is one name however it was typed", () => {
    expect(parseTeamName("Zoe\u0308", "team")).toBe("Zo\u00EB");
  });
});
