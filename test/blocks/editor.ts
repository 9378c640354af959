/**
 * A process that edits a block shared with other processes. Arguments: the file, its number. Each process has a line of
 * its own in the block, whose counter it increments by replacing, and appends further lines.
 */
import { HoldfastError, openMemory } from "holdfast";
import { onOrder, report } from "../support/child.js";
import { counted, type EditorOrder, type EditorReport, lineOf, SCOPE, SHARED } from "./editor-report.js";

const [, , path = "", number = ""] = process.argv;
const who = Number(number);
const memory = await openMemory({ path });
const session = memory.session(SCOPE);
const tell = (message: EditorReport): void => report(message);

/** Alternates between appending, replacing, and both in a turn; reports the versions that the single edits made. */
async function edit(rounds: number): Promise<void> {
  const versions: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const appended = await session.blocks.edit(SHARED, { append: lineOf(who, round), actor: `editor ${who}` });
    const change = { replace: counted(who, 2 * round), with: counted(who, 2 * round + 1) };
    const replaced = await session.blocks.edit(SHARED, { ...change, actor: `editor ${who}` });
    versions.push(appended.version, replaced.version);
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: `message ${who} ${round}` } });
    turn.push({
      op: "edit_block",
      block: SHARED,
      replace: counted(who, 2 * round + 1),
      with: counted(who, 2 * round + 2),
      actor: `editor ${who}`,
    });
    await session.commit(turn);
  }
  tell({ say: "edited", versions });
}

/** One edit made from this version: it wins, or is told the current version. */
async function race(expectVersion: number): Promise<void> {
  try {
    const { version } = await session.blocks.edit(SHARED, { append: `editor ${who} won`, expectVersion });
    tell({ say: "raced", isWon: true, version });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "conflict") throw error;
    tell({ say: "raced", isWon: false, version: Number(error.details["version"]) });
  }
}

onOrder<EditorOrder>((order) => void ("rounds" in order ? edit(order.rounds) : race(order.expectVersion)));
tell({ say: "ready" });
