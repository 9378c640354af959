/**
 * Eight real processes edit one block concurrently: no edit is lost, and of those made from the same version one wins.
 */
import { describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath, open } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";
import { counted, type EditorOrder, type EditorReport, lineOf, SCOPE, SHARED } from "./editor-report.js";

const EDITORS = 8;
const ROUNDS = 10;
const RACES = 10;

type Said<S extends EditorReport["say"]> = EditorReport & { readonly say: S };

/** An editing process and everything that it has reported. */
class Editor {
  readonly #reports: EditorReport[] = [];
  readonly #child: Child<EditorOrder, EditorReport>;
  /** Its standard error output, once it has ended. */
  #lastWords: string | undefined;

  constructor(path: string, number: number) {
    const module = new URL("./editor.js", import.meta.url);
    this.#child = new Child(module, [path, String(number)], (report) => this.#reports.push(report));
    void this.#child.ended.then(({ stderr }) => {
      this.#lastWords = stderr;
    });
  }

  /** Its answer to the order; rejects if it ends before. */
  async does<S extends EditorReport["say"]>(order: EditorOrder, say: S): Promise<Said<S>> {
    this.#child.give(order);
    return this.says(say);
  }

  async says<S extends EditorReport["say"]>(say: S): Promise<Said<S>> {
    await until(() => this.#reports.length > 0 || this.#lastWords !== undefined);
    const report = this.#reports.shift();
    if (report?.say !== say)
      throw new Error(`the editor did not say ${say}: ${JSON.stringify(report)} ${this.#lastWords}`);
    return report as Said<S>;
  }

  async end(): Promise<void> {
    this.#child.kill();
    await this.#child.ended;
  }
}

const numbers = Array.from({ length: EDITORS }, (_, at) => at);

describe("eight processes on one block", () => {
  it("lose no edit, number the versions without a gap, and one wins of those made from the same version", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session(SCOPE);
    const { blocks } = session;
    const first = numbers.map((who) => counted(who, 0)).join("\n");
    await blocks.create({ name: SHARED, content: first });
    const editors = numbers.map((who) => new Editor(path, who));
    try {
      await Promise.all(editors.map((editor) => editor.says("ready")));

      const edited = await Promise.all(editors.map((editor) => editor.does({ rounds: ROUNDS }, "edited")));
      const edits = EDITORS * ROUNDS * 3;
      const after = await blocks.get(SHARED);
      const lines = after?.content.split("\n") ?? [];
      expect(after?.version).toBe(1 + edits);
      expect(lines.slice(0, EDITORS)).toEqual(numbers.map((who) => counted(who, 2 * ROUNDS)));
      const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
      for (const who of numbers) {
        const own = lines.filter((line) => line.endsWith(`of editor ${who}`));
        expect(own).toEqual(rounds.map((round) => lineOf(who, round)));
      }
      expect(lines).toHaveLength(EDITORS + EDITORS * ROUNDS);
      const versions = edited.flatMap((report) => report.versions);
      expect(new Set(versions).size).toBe(EDITORS * ROUNDS * 2);
      expect((await session.list({ limit: 1_000 })).items).toHaveLength(EDITORS * ROUNDS);

      for (let round = 0; round < RACES; round++) {
        const expectVersion = 1 + edits + round;
        const raced = await Promise.all(editors.map((editor) => editor.does({ expectVersion }, "raced")));
        expect(raced.filter(({ isWon }) => isWon)).toHaveLength(1);
        expect(raced.map(({ version }) => version)).toEqual(numbers.map(() => expectVersion + 1));
      }

      // Replaying the log from the creation gives the current text.
      const log = [...(await blocks.history(SHARED, { limit: 0 }))].reverse();
      expect(log.map(({ version }) => version)).toEqual(Array.from({ length: edits + RACES }, (_, at) => at + 2));
      expect(log.map((edit) => edit.old)).toEqual([first, ...log.map((edit) => edit.new)].slice(0, -1));
      const last = await blocks.get(SHARED);
      expect(last).toMatchObject({ version: 1 + edits + RACES, content: log.at(-1)?.new });
      expect(last?.content.match(/editor \d won/g)).toHaveLength(RACES);
      const actors = log.map(({ actor }) => actor);
      for (const [who, { versions: own }] of edited.entries()) {
        expect(own.map((version) => actors[version - 2])).toEqual(own.map(() => `editor ${who}`));
      }
      // The processes really interleaved.
      const changes = actors.slice(0, edits).filter((actor, at) => at > 0 && actor !== actors[at - 1]).length;
      console.log(`of ${edits} edits ${changes} came after one of another process`);
      expect(changes).toBeGreaterThan(EDITORS);
    } finally {
      await Promise.all(editors.map((editor) => editor.end()));
    }
    await memory.close();
    expect(unsoundness(path)).toEqual([]);
  });
});
