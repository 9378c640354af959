/**
 * A process that saves. Its memories contain the name of the saver and the number of the save. Arguments: the base
 * folder, its name, its task: `count` saves a hundred times on order and checks the file after each; `flood` saves
 * large memories until it is killed; `hold` takes the team's lock and keeps it.
 */
import { join } from "node:path";
import { onOrder, report } from "../../support/child.js";
import { ConversationMemory, locked, MemoryManager } from "./product.js";
import { SAVES, type SaverOrder, type SaverReport, SHARED, TEAM } from "./saver-report.js";

const FLOOD_CHARS = 300_000;
/** A reference to the holder: without it the holder would be garbage collected, and its lock released. */
const ends: unknown[] = [];

const [, , base = "", name = "", task = ""] = process.argv;
const manager = new MemoryManager(base);
const tell = (message: SaverReport): void => report(message);

function memoryOf(number: number, filling = "") {
  const memory = new ConversationMemory();
  memory.recordTurn("user", `${name} ${number}`);
  memory.recordTurn("assistant", filling);
  return memory;
}

/** The last seen save of each process: saves may be skipped, but never go back. */
async function count(): Promise<void> {
  const newest = new Map<string, number>();
  const wrong: string[] = [];
  let foreign = 0;
  for (let number = 1; number <= SAVES; number++) {
    await Promise.all([
      manager.save(TEAM, SHARED, memoryOf(number, "x".repeat(number * 50))),
      manager.save(TEAM, name, memoryOf(number)),
    ]);
    const found = await manager.load(TEAM, SHARED);
    const [who = "", which = "0"] = found?.turns[0]?.content.split(" ") ?? [];
    if (found?.turns[1]?.content.length !== Number(which) * 50) wrong.push(`${who} ${which} is torn`);
    if (Number(which) < (newest.get(who) ?? 0)) wrong.push(`${who} went back to ${which}`);
    if (who === name && Number(which) !== number) wrong.push(`${number} was lost: ${which} is there`);
    if (who !== name) foreign++;
    newest.set(who, Number(which));
  }
  tell({ say: "done", wrong, foreign });
}

async function flood(): Promise<void> {
  const stored = await manager.load(TEAM, SHARED);
  const before = Number(stored?.turns[0]?.content.split(" ")[1] ?? 0);
  for (let number = before + 1; ; number++) {
    await manager.save(TEAM, SHARED, memoryOf(number, "y".repeat(FLOOD_CHARS)));
    tell({ say: "saved", number });
  }
}

onOrder<SaverOrder>((order) => {
  if (order === "count") void count();
  else void manager.save(TEAM, SHARED, memoryOf(SAVES + 1)).then(() => tell({ say: "last" }));
});
tell({ say: "ready" });
if (task === "flood") await flood();
if (task === "hold") {
  await locked(join(base, TEAM, "memory"), 10_000, () => {
    tell({ say: "held" });
    return new Promise<never>((resolve) => ends.push(resolve));
  });
}
