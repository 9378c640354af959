/** The team memory among several real processes: no torn files, no lost saves, no leftovers of killed processes. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Child } from "../../support/child.js";
import { inFolder } from "../../support/folder.js";
import { Random, testSeed } from "../../support/random.js";
import { until } from "../../support/until.js";
import { ConversationMemory, MemoryManager } from "./product.js";
import { SAVES, type SaverOrder, type SaverReport, type SaverTask, SHARED, TEAM } from "./saver-report.js";

const LIVES = 12;
const KILL_DELAY_MS_MAX = 6;

const folderOf = (base: string): string => join(base, TEAM, "memory");

function memoryOf(content: string) {
  const memory = new ConversationMemory();
  memory.recordTurn("user", content);
  return memory;
}

/** A saver and everything that it has reported. */
class Saver {
  readonly reports: SaverReport[] = [];
  readonly child: Child<SaverOrder, SaverReport>;
  /** Its standard error output, once it has ended. */
  #lastWords: string | undefined;

  constructor(base: string, name: string, task: SaverTask) {
    this.child = new Child(new URL("./saver.js", import.meta.url), [base, name, task], (report) =>
      this.reports.push(report),
    );
    void this.child.ended.then(({ stderr }) => {
      this.#lastWords = stderr;
    });
  }

  /** Resolves when it has reported this `times` times, with the last of these reports; rejects if it ends before. */
  async said<S extends SaverReport["say"]>(say: S, times = 1): Promise<SaverReport & { readonly say: S }> {
    const found = () => this.reports.filter((report) => report.say === say)[times - 1];
    await until(() => found() !== undefined || this.#lastWords !== undefined);
    const report = found();
    if (!report) throw new Error(`the saver has ended without saying ${say}: ${this.#lastWords}`);
    return report as SaverReport & { readonly say: S };
  }
}

async function withSavers(savers: readonly Saver[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    for (const { child } of savers) child.kill();
    await Promise.all(savers.map(({ child }) => child.ended));
  }
}

describe("two processes that save a hundred times each", () => {
  it("tear no file, lose no save, never go back, and the last save wins", () =>
    inFolder(async (base) => {
      const [ada, bob] = [new Saver(base, "ada", "count"), new Saver(base, "bob", "count")];
      await withSavers([ada, bob], async () => {
        await Promise.all([ada.said("ready"), bob.said("ready")]);
        for (const { child } of [ada, bob]) child.give("count");
        const done = await Promise.all([ada.said("done"), bob.said("done")]);
        expect(done.flatMap(({ wrong }) => wrong)).toEqual([]);
        const foreign = done.map((report) => report.foreign);
        console.log(`after its own save each found the other's ${foreign.join(" and ")} times of ${SAVES}`);
        const manager = new MemoryManager(base);
        const shared = await manager.load(TEAM, SHARED);
        expect(shared?.turns[0]?.content).toMatch(new RegExp(`^(ada|bob) ${SAVES}$`));
        for (const name of ["ada", "bob"]) {
          expect((await manager.load(TEAM, name))?.turns[0]?.content).toBe(`${name} ${SAVES}`);
        }
        for (const saver of [ada, bob]) {
          saver.child.give("last");
          await saver.said("last");
        }
        expect((await manager.load(TEAM, SHARED))?.turns[0]?.content).toBe(`bob ${SAVES + 1}`);
        expect((await readdir(folderOf(base))).sort()).toEqual([".lock", "ada.json", "bob.json", "shared.json"]);
      });
    }));
});

describe("a process that is killed while it saves", () => {
  it("leaves a complete file with everything acknowledged, and no lock", () =>
    inFolder(async (base) => {
      const random = new Random(testSeed("kills while saving"));
      let leftUnfinished = 0;
      for (let life = 1; life <= LIVES; life++) {
        const saver = new Saver(base, "ada", "flood");
        await withSavers([saver], async () => {
          await saver.said("saved", random.between(1, 5));
          await new Promise((resolve) => setTimeout(resolve, random.fraction() * KILL_DELAY_MS_MAX));
        });
        const told = Math.max(...saver.reports.map((report) => (report.say === "saved" ? report.number : 0)));
        leftUnfinished += (await readdir(folderOf(base))).filter((name) => name.endsWith(".tmp")).length;

        const manager = new MemoryManager(base, { busyTimeoutMs: 0 });
        const memory = await manager.load(TEAM, SHARED);
        const saved = Number(memory?.turns[0]?.content.split(" ")[1]);
        expect(saved).toBeGreaterThanOrEqual(told);
        expect(saved).toBeLessThanOrEqual(told + 1);
        await manager.save(TEAM, "other", memoryOf(`life ${life}`));
        expect((await readdir(folderOf(base))).sort()).toEqual([".lock", "other.json", "shared.json"]);
        expect((await stat(join(folderOf(base), ".lock"))).size).toBe(0);
      }
      console.log(`${LIVES} kills left ${leftUnfinished} unfinished files, which the next save has removed`);
    }));

  it("releases its lock at once for those that wait; until then they are refused in time", () =>
    inFolder(async (base) => {
      await new MemoryManager(base).save(TEAM, SHARED, memoryOf("before"));
      const holder = new Saver(base, "ada", "hold");
      await withSavers([holder], async () => {
        await holder.said("held");
        const hurried = new MemoryManager(base, { busyTimeoutMs: 100 });
        await expect(hurried.save(TEAM, SHARED, memoryOf("refused"))).rejects.toMatchObject({ code: "busy" });
        expect((await hurried.load(TEAM, SHARED))?.turns[0]?.content).toBe("before");
        const patient = new MemoryManager(base, { busyTimeoutMs: 60_000 }).save(TEAM, SHARED, memoryOf("after"));
        holder.child.kill();
        await patient;
        expect((await hurried.load(TEAM, SHARED))?.turns[0]?.content).toBe("after");
      });
    }));
});
