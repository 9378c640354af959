/** Backups, and restores over the file. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { backupFile, openMemory, restoreFile } from "holdfast";
import type { Finding } from "../crash/finding.js";
import { report } from "../support/child.js";
import { unsoundness } from "../support/raw.js";
import { BY_WORDS, examined, fileOf } from "./memory.js";
import { unsound, type Workload } from "./workload.js";

/** An add, or a whole file that takes the place of another: the messages that the file holds then, by number. */
interface CopyReport {
  readonly say: "do" | "done";
  readonly file: "memory" | "backup";
  readonly messages: readonly number[];
}

const ROUNDS = 4;
/** Messages that are added at a time. */
const ADDED = 3;
const SCOPE = { user: "ada", session: "monday" };

const pathOf = (folder: string, file: CopyReport["file"]): string =>
  file === "memory" ? fileOf(folder) : join(folder, "backup.db");

/**
 * Add, back up, add, restore, again and again: each by a process of its own, because nobody may have the file open. In
 * every second round the file is lost before it is restored, and its log is left.
 */
export const copies: Workload = {
  name: "backup and restore",
  images: 300,
  steps: 4 * ROUNDS,
  async work(folder, _, step) {
    const round = Math.floor(step / 4);
    const [path, to] = [fileOf(folder), pathOf(folder, "backup")];
    // What a round adds after its backup is gone with its restore.
    const backedUp = Array.from({ length: (round + 1) * ADDED }, (_, at) => at + 1);
    const lost = Array.from({ length: ADDED }, (_, at) => 1_000 * (round + 1) + at);
    const losesFile = round % 2 === 1;
    switch (step % 4) {
      case 0:
        return add(path, backedUp.slice(0, -ADDED), backedUp.slice(-ADDED));
      case 1:
        return told("backup", backedUp, () => backupFile({ path, to, overwrite: true }));
      case 2:
        await add(path, backedUp, lost);
        // The log that is left belongs to a file that is not the backup's any more.
        if (losesFile) await add(path, [...backedUp, ...lost], [1_000 * (round + 1) + ADDED], false);
        return;
      default:
        if (losesFile) {
          report({ say: "do", file: "memory", messages: [] } satisfies CopyReport);
          rmSync(path);
        }
        return told("memory", backedUp, () => restoreFile({ from: to, to: path, overwrite: true }));
    }
  },
  async check(folder, reports) {
    const findings: Finding[] = [];
    for (const file of ["memory", "backup"] as const) {
      const about = (reports as readonly CopyReport[]).filter((one) => one.file === file);
      findings.push(...(await audit(pathOf(folder, file), about)));
    }
    return findings;
  },
};

async function told(
  file: CopyReport["file"],
  messages: readonly number[],
  work: () => Promise<unknown>,
): Promise<void> {
  report({ say: "do", file, messages } satisfies CopyReport);
  await work();
  report({ say: "done", file, messages } satisfies CopyReport);
}

async function add(path: string, before: readonly number[], added: readonly number[], closes = true): Promise<void> {
  const memory = await openMemory({ ...BY_WORDS, path });
  for (const [at, number] of added.entries()) {
    const message = { role: "user", content: textOf(number), metadata: { number } } as const;
    const messages = [...before, ...added.slice(0, at + 1)];
    await told("memory", messages, () => memory.session(SCOPE).add([message]));
  }
  if (!closes) process.kill(process.pid, "SIGKILL");
  await memory.close();
}

const textOf = (number: number): string => `message ${number} ${"filling ".repeat(200)}`;

/** The file holds what the last call that returned has left in it, or what one that was begun after it leaves. */
async function audit(path: string, reports: readonly CopyReport[]): Promise<Finding[]> {
  const last = reports.findLastIndex(({ say }) => say === "done");
  const known = reports[last]?.messages ?? [];
  const possible = [known, ...reports.slice(last + 1).map(({ messages }) => messages)].map(String);
  const findings: Finding[] = [];
  const numbers: number[] = [];
  if (existsSync(path)) {
    const memory = await openMemory({ ...BY_WORDS, path });
    const { items } = await memory.session({ user: SCOPE.user }).list({ order: "asc", limit: 1_000 });
    await memory.close();
    for (const { metadata, content } of items) {
      const number = Number(metadata["number"]);
      if (content !== textOf(number)) findings.push(unsound("a message is not what it was"));
      numbers.push(number);
    }
    findings.push(...[...unsoundness(path), ...(await examined(path))].map(unsound));
  }
  if (possible.includes(String(numbers))) return findings;
  const problem = known.some((number) => !numbers.includes(number)) ? "lost" : "ghost";
  return [...findings, { problem, what: `${path} holds ${numbers}, not ${possible.join(" or ")}` }];
}
