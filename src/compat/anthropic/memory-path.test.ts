/** Which paths are valid, and that no two of them name the same block. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasPath, parentsOf, parsePath, pathOf } from "./memory-path.js";
import { MemoryToolError } from "./memory-tool-error.js";

describe("a path under /memories", () => {
  it.each([
    ["/memories", "", true],
    ["/memories/", "", true],
    ["/memories/persona", "persona", false],
    ["/memories/projects/a.md", "projects/a.md", false],
    ["/memories/projects/", "projects", true],
    ["/memories/.hidden", ".hidden", false],
    ["/memories/...", "...", false],
    ["/memories/a..b", "a..b", false],
    ["/memories/100%", "100%", false],
    ["/memories/%41", "%41", false],
    ["/memories/ a b ", " a b ", false],
    ["/memories/memories/a", "memories/a", false],
    ["/memories/日記/👩‍👩‍👧.md", "日記/👩‍👩‍👧.md", false],
    ["/memories/．．", "．．", false],
    ["/memories/~", "~", false],
    ["/memories/C:", "C:", false],
    ["/memories/__proto__", "__proto__", false],
  ])("%s is the name %j", (path, name, isDirectory) => {
    expect(parsePath(path)).toEqual({ path, name, isDirectory });
  });

  it.each([
    ["/memoriesX", "must start with"],
    ["/memories2/a", "must start with"],
    ["/Memories/a", "must start with"],
    ["memories/a", "must start with"],
    ["//memories/a", "must start with"],
    [" /memories/a", "must start with"],
    ["/", "must start with"],
    ["", "must start with"],
    ["/etc/passwd", "must start with"],
    ["file:///memories/a", "must start with"],
    ["/memories\\a", "must start with"],
    ["/memories%2fa", "must start with"],
    ["/memories/..", "would escape"],
    ["/memories/../etc", "would escape"],
    ["/memories/a/../b", "would escape"],
    ["/memories/a/..", "would escape"],
    ["/memories/../", "would escape"],
    ["/memories//", "an empty part"],
    ["/memories//a", "an empty part"],
    ["/memories/a//b", "an empty part"],
    ["/memories/a//", "an empty part"],
    ["/memories/.", "an empty part"],
    ["/memories/./a", "an empty part"],
    ["/memories/a/.", "an empty part"],
    ["/memories/..\\a", "a backslash"],
    ["/memories/a\\b", "a backslash"],
    ["/memories/%2e%2e/a", "encoded"],
    ["/memories/%2E./a", "encoded"],
    ["/memories/a%2fb", "encoded"],
    ["/memories/a%5Cb", "encoded"],
    ["/memories/%252e%25252e", "encoded"],
    ["/memories/a%00", "encoded"],
    ["/memories/a\u0000", "control"],
    ["/memories/a\nb", "control"],
    ["/memories/a\u007f", "control"],
    ["/memories/a\u0085", "control"],
    ["/memories/a\u2028b", "control"],
    ["/memories/\ud800", "control"],
    [`/memories/${"a".repeat(513)}`, "longer than 512"],
  ])("cannot be %j", (path, problem) => {
    expect(() => parsePath(path)).toThrow(
      expect.objectContaining({
        name: "MemoryToolError",
        code: "invalid_input",
        message: expect.stringContaining(problem),
      }),
    );
  });

  it("is repeated in a refusal on one line, and not at any length", () => {
    expect(() => parsePath("/memories/a\u0000\n\u2028")).toThrow(
      /^Path \/memories\/a\\u0000\\u000a\\u2028 is not valid/,
    );
    expect(() => parsePath("é".repeat(1_000_000))).toThrow(/^.{1000,1100}$/u);
  });

  it("maps to the same name verbatim: no two files collide", () => {
    const segment = fc.constantFrom("a", "b", ".", "..", "", "%2e", "\\", "\n", "日", "a b", "\ud800", "...", "%");
    const read = (path: string) => {
      try {
        return parsePath(path);
      } catch (error) {
        if (error instanceof MemoryToolError) return undefined;
        throw error;
      }
    };
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const name = segments.join("/");
        const found = read(pathOf(name));
        expect(found !== undefined && !found.isDirectory).toBe(hasPath(name));
        if (found) expect(`${found.name}${found.isDirectory && found.name !== "" ? "/" : ""}`).toBe(name);
      }),
      { numRuns: 500 },
    );
  });

  it("lies in the directories above it", () => {
    expect(parentsOf("a")).toEqual([]);
    expect(parentsOf("a/b/c")).toEqual(["a", "a/b"]);
  });
});
