/** An import whose process is killed, again and again, is run again: nothing is lost, nothing is there twice. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ImportReport, importLines } from "holdfast";
import { describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newFolder, open } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { exported, fill, lasting } from "./world.js";

const KILLS = 3;

describe("an import", () => {
  it("continues after kill -9 and ends as if nothing had happened", async () => {
    const random = new Random(testSeed("killed imports"));
    const source = await open({ path: ":memory:" });
    await fill(source, random, 60);
    await fillMore(source);
    const lines = await exported(source);
    const folder = newFolder();
    const [path, file] = [join(folder, "memory.db"), join(folder, "export.jsonl")];
    writeFileSync(file, `${lines.join("\n")}\n`);

    const done: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) done.push(await killedAfter(random.between(1, 3 + kill * 2), path, file));
    expect(Math.max(...done), "some of it was written before").toBeGreaterThan(0);

    const target = await open({ path });
    const report = await importLines(target, lines);
    expect(report).toMatchObject({ conflicts: 0 });
    expect(report.repeated, "what the others had written is there").toBeGreaterThan(0);
    expect(lasting(await exported(target))).toEqual(lasting(lines));
    await target.close();
    expect(unsoundness(path)).toEqual([]);
  });

  /** Kills the importer as soon as it has told of so many batches; how many lines were written or there by then. */
  async function killedAfter(batches: number, path: string, file: string): Promise<number> {
    let told = 0;
    let lines = 0;
    const child = new Child<string, ImportReport>(new URL("./importer.js", import.meta.url), [path, file], (report) => {
      told++;
      lines = report.items + report.repeated;
      if (told >= batches) child.kill();
    });
    const { code, signal, stderr } = await child.ended;
    if (signal !== "SIGKILL" && code !== 0) throw new Error(`the importer failed by itself: ${stderr}`);
    return lines;
  }

  async function fillMore(memory: Awaited<ReturnType<typeof open>>): Promise<void> {
    const rounds = Array.from({ length: 600 }, (_, at) => [
      { role: "user", content: `question ${at}` } as const,
      { role: "assistant", content: `answer ${at}` } as const,
    ]);
    await memory.session({ user: "long", session: "talk" }).addBatch(rounds);
  }
});
