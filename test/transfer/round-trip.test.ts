/** What is exported and imported again is the same, but for what docs/transfer.md says. */
import { exportLines, importLines, type Memory } from "holdfast";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";
import { exported, fill, lasting, linesOf } from "./world.js";

const STEPS = 280;
const CUTS = 12;

describe("a round trip", () => {
  it("gives equal lines, wherever the export was cut off, and a second import adds nothing", async () => {
    const random = new Random(testSeed("round trip"));
    const source = await open({ path: ":memory:" });
    await fill(source, random, STEPS);
    const lines = await exported(source);
    for (let cut = 0; cut < CUTS; cut++) {
      const at = random.between(1, lines.length - 1);
      const whole = await resumed(source, lines.slice(0, at));
      expect(withoutCursors(whole), `cut after ${at} lines`).toEqual(withoutCursors(lines));
    }

    const target = await open({ path: ":memory:" });
    const report = await importLines(target, lines);
    const bodies = withoutCursors(lines).length - 1;
    expect(report).toMatchObject({
      lines: lines.length,
      repeated: 0,
      conflicts: 0,
      skipped: 0,
    });
    expect(lasting(await exported(target))).toEqual(lasting(lines));

    const again = await importLines(target, lines);
    expect(again).toMatchObject({
      items: 0,
      facts: 0,
      blocks: 0,
      sessions: 0,
      entries: 0,
      superseded: 0,
      points: 0,
      promotions: 0,
    });
    expect(again).toMatchObject({ repeated: bodies, conflicts: 0 });
    expect(lasting(await exported(target))).toEqual(lasting(lines));
  });
});

const withoutCursors = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !/^\{"type":"(holdfast|cursor)"/.test(line));

/** As a caller does it: what came after the last cursor is thrown away, and the rest appended. */
async function resumed(memory: Memory, lines: readonly string[]): Promise<string[]> {
  const at = lines.findLastIndex((line) => line.startsWith('{"type":"cursor"'));
  if (at < 0) return exported(memory);
  const { cursor } = JSON.parse(lines[at] as string) as { readonly cursor: string };
  return [...lines.slice(0, at + 1), ...(await linesOf(exportLines(memory, { cursor })))];
}
