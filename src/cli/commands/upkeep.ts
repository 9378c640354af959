/** holdfast backup, restore and doctor. */
import type { CopyReport } from "../../upkeep/backup.js";
import type { Diagnosis } from "../../upkeep/diagnosis.js";
import type { Watch } from "../../upkeep/progress.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { isEnding } from "../io.js";
import { counted } from "../output/counted.js";
import type { Progress } from "../output/progress.js";
import { type Part, styled } from "../output/style.js";
import { embeddingModelAt, prepareFolderOf, requireFile, requireFolder } from "../place.js";
import { whereParts } from "../scope-flags.js";

export const backupCommand: Definition = {
  name: "backup",
  args: "<to>",
  argHelp: { to: "the backup file to create" },
  purpose: "Back up the file while it is in use.",
  about: "The copy is a consistent snapshot, and is checked.",
  options: [flag("--overwrite", "replace an existing backup")],
  examples: ["holdfast backup memory-monday.db", "holdfast backup /backups/memory.db --path agent.db --overwrite"],
  async run(call) {
    const { path } = await call.file();
    const { overwrite = false } = call.flags<{ overwrite?: boolean }>();
    requireFile(path);
    requireFolder(call.arg(0));
    const { backupFile } = await import("../../upkeep/backup.js");
    const report = await watched(call, "copying", (watch) =>
      backupFile({ path, to: call.arg(0), overwrite, ...watch }),
    );
    if (report) await printCopy(call, report);
  },
};

export const restoreCommand: Definition = {
  name: "restore",
  args: "<from>",
  argHelp: { from: "the backup" },
  purpose: "Restore a backup.",
  about: "Everything written after the backup is lost.",
  options: [flag("--overwrite", "replace the existing file; stop all processes that use it first")],
  examples: ["holdfast restore memory-monday.db --path agent.db", "holdfast restore memory-monday.db --overwrite"],
  async run(call) {
    const place = await call.file();
    const { path } = place;
    const { overwrite = false } = call.flags<{ overwrite?: boolean }>();
    await prepareFolderOf(place);
    const { restoreFile } = await import("../../upkeep/backup.js");
    const report = await watched(call, "restoring", (watch) =>
      restoreFile({ from: call.arg(0), to: path, overwrite, ...watch }),
    );
    if (report) await printCopy(call, report);
  },
};

async function printCopy({ printer }: Call, report: CopyReport): Promise<void> {
  if (printer.json) return printer.value(report);
  const { path, items, bytes } = report;
  await printer.line(`${path}: ${counted(items, "item")}, ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked`);
}

export const doctorCommand: Definition = {
  name: "doctor",
  purpose: "Check the file and the model, and suggest what to do.",
  about: "Changes nothing without --repair. Other processes may use the file. Exit code 1 if something is wrong.",
  options: [
    flag("--repair", "repair what can be repaired; content is never changed"),
    flag("--deep", "check everything; slower"),
  ],
  examples: ["holdfast doctor", "holdfast doctor --deep --path agent.db", "holdfast doctor --repair"],
  async run(call) {
    const place = await call.file();
    const { path } = place;
    const { repair, deep = false } = call.flags<{ repair?: boolean; deep?: boolean }>();
    requireFile(path);
    const model = await embeddingModelAt(place, call.io.env);
    const { inspectFile } = await import("../../upkeep/inspect.js");
    const { repairFile } = await import("../../upkeep/repair.js");
    call.printer.note(...whereParts("everyone", path));
    const report = await watched(call, "checking", async (watch) => {
      const options = { path, deep, model, ...watch };
      return repair ? repairFile(options) : { done: [], after: await inspectFile(options) };
    });
    if (!report) return;
    const { done, after } = report;
    if (after.state === "error") call.exitCode = EXIT.no;
    if (call.printer.json) return call.printer.value(repair ? report : after);
    await printDiagnosis(call, after);
    for (const what of done) await call.printer.line(styled("green", `repaired: ${what}`));
    if (repair && done.length === 0) call.printer.note("nothing to repair");
  },
};

const STATE_STYLE = { ok: "green", warning: "yellow", error: "red" } as const;

async function printDiagnosis({ printer }: Call, { checks, state }: Diagnosis): Promise<void> {
  const rows = checks.map((check): readonly Part[] => [
    styled(STATE_STYLE[check.state], check.state),
    check.name,
    check.what,
  ]);
  await printer.table([{ name: "STATE" }, { name: "CHECK" }, { name: "FOUND", isWhole: true }], rows);
  for (const { state: found, name, what, todo } of checks) {
    if (found === "ok") continue;
    await printer.line(styled(STATE_STYLE[found], `${name}: `), todo ? `${what}; ${todo}` : what);
  }
  await printer.line(
    styled(
      STATE_STYLE[state],
      state === "ok" ? "no problems found" : state === "warning" ? "usable" : "something is wrong",
    ),
  );
}

/** Shows progress. Undefined if the user interrupted it; nothing is left behind then. */
async function watched<T>(call: Call, label: string, work: (watch: Watch) => Promise<T>): Promise<T | undefined> {
  const { signal } = call.io;
  const progress: Progress = call.progress(label);
  try {
    return await work({ signal, onProgress: ({ done, total }) => progress.update(done, total) });
  } catch (error) {
    if (isEnding(error, signal)) return undefined;
    throw error;
  } finally {
    progress.end();
  }
}
