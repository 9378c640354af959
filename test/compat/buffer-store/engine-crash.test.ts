/**
 * A process with a context engine is killed repeatedly, by turns a default one and a sliding window. Every turn it has added is in
 * the buffer or has arrived at the backend, and arrives under one id; what was confirmed does not come back; nothing is injected twice.
 *
 * HOLDFAST_TEST_KILLS sets the number of kills (6 by default), HOLDFAST_TEST_SEED replays the plan of another run.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { Child } from "../../support/child.js";
import { inFolder } from "../../support/folder.js";
import { Random, testSeed } from "../../support/random.js";
import { EngineBooks } from "./engine-books.js";
import type { EngineOrder, EngineReport } from "./engine-protocol.js";
import { unsoundBuffer } from "./unsound.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 6);
const TURNS_PER_LIFE = 100_000;
const ITEMS_PER_LIFE = 60;
const WORKER = new URL("./engine-worker.js", import.meta.url);

type Worker = Child<EngineOrder, EngineReport>;

/** When to kill: `ms` after so many reports, of all or of one kind; 0 reports: after its start. */
interface Kill {
  readonly reports: number;
  readonly say?: EngineReport["say"];
  readonly ms: number;
}

/** The backend has the episodes, and the engine does not know it. Late enough for some of everything. */
const DURING_DELIVERY: Kill = { reports: 8, say: "ingested", ms: 0 };

function planKill(random: Random): Kill {
  const aim = random.weighted({ anywhere: 9, start: 3, delivery: 8 });
  if (aim === "start") return { reports: 0, ms: random.fraction() * 120 };
  if (aim === "anywhere") return { reports: random.between(1, 150), ms: random.fraction() * 2 };
  return { ...DURING_DELIVERY, reports: random.between(1, 6) };
}

it(
  `loses no turn and injects no item twice, in ${kills} kills`,
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "buffer.db");
      const random = new Random(testSeed("context engine, killed"));
      const books = new EngineBooks();

      /** One life. Returns what is wrong. */
      async function live(engine: string, order: EngineOrder, kill?: Kill) {
        const problems: string[] = [];
        let reports = 0;
        const worker: Worker = new Child(WORKER, [path, engine], (report) => {
          problems.push(...books.take(report));
          if (report.say === "open") worker.give(order);
          const isCounted = kill && (kill.say === undefined || kill.say === report.say);
          if (isCounted && ++reports === kill.reports) killIn(kill.ms);
          else if (report.say === "ingested") worker.give({ do: "confirm" });
        });
        const killIn = (ms: number): unknown => (ms > 0 ? setTimeout(() => worker.kill(), ms) : worker.kill());
        if (kill?.reports === 0) killIn(kill.ms);
        const end = await worker.ended;
        if (end.signal !== (kill ? "SIGKILL" : null))
          problems.push(`the worker ended with ${end.signal}, ${end.code}: ${end.stderr}`);
        return problems;
      }

      for (let life = 1; life <= kills; life++) {
        const order = {
          do: "work",
          from: life * TURNS_PER_LIFE,
          seed: random.between(0, 2 ** 31),
          pool: life * ITEMS_PER_LIFE,
        } as const;
        expect(
          await live(life % 2 === 0 ? "default" : "sliding", order, life === 1 ? DURING_DELIVERY : planKill(random)),
        ).toEqual([]);
      }
      expect(await live("default", { do: "finish" })).toEqual([]);
      console.log(`context engine: ${kills} kills, ${books.summary}`);
      const { added, arrived, repeated, injected } = books.counts;
      expect(arrived).toBe(added);
      expect(added).toBeGreaterThan(0);
      expect(repeated).toBeGreaterThan(0);
      expect(injected).toBeGreaterThan(0);
      expect(unsoundBuffer(path)).toEqual([]);
    }),
  (kills + 1) * 10_000,
);
