/**
 * A process that adds rounds to one session and reports where the log ends after each; then it waits to be killed.
 *
 * Arguments: the path of the file, the number of rounds, and "quiet" if only the end is to be reported.
 */
import { readFileSync } from "node:fs";
import { openMemory } from "holdfast";
import { onOrder, report } from "../support/child.js";
import { Log } from "./log.js";
import { type AddOperation, messagesOf } from "./operation.js";

export const SCOPE = { user: "ada", session: "monday" };

/** One round is acknowledged, and the log ends here. */
export interface Acknowledged {
  readonly operation: AddOperation;
  readonly logEnd: number;
}

/** Rounds of one to four messages, short and long. */
export function roundOf(op: number): AddOperation {
  const sizes = Array.from({ length: 1 + (op % 4) }, (_, at) => ((op + at) % 3 === 0 ? 3_000 : 60));
  return { kind: "add", op, lane: 0, rounds: [sizes], retry: "none" };
}

async function run(path: string, rounds: number, isQuiet: boolean): Promise<void> {
  onOrder(() => undefined); // stays alive until it is killed
  const memory = await openMemory({ path });
  const session = memory.session(SCOPE);
  for (let op = 1; op <= rounds; op++) {
    const operation = roundOf(op);
    await session.add(messagesOf(operation).flat());
    if (!isQuiet)
      report({ operation, logEnd: new Log(readFileSync(`${path}-wal`)).committedEnd } satisfies Acknowledged);
  }
  report("idle");
}

const [, , path, rounds, quiet] = process.argv;
if (process.argv[1]?.endsWith("adder.js")) await run(path as string, Number(rounds), quiet === "quiet");
