/** holdfast export and import: a memory as lines of JSON. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { HoldfastError } from "../../errors.js";
import { openForReading } from "../../plain-file.js";
import type { ImportReport, OnConflict } from "../../transfer/report.js";
import { splitLines } from "../../transfer/split-lines.js";
import type { Call } from "../call.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { ExportFile } from "../export-file.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { hasScope, type ScopeFlags, scopeText } from "../scope-flags.js";

interface ExportFlags extends ScopeFlags {
  readonly cursor?: string;
  readonly resume?: boolean;
}

export const exportCommand: Definition = {
  name: "export",
  args: "[file]",
  argHelp: { file: "the file to create (default: stdout)" },
  purpose: "Export a memory as lines of JSON.",
  about:
    "Exports everything, or the given scope. The last line contains the counts. An interrupted export continues with --resume.",
  options: [
    flag("--resume", "continue an interrupted export"),
    flag("--cursor <cursor>", "continue after the line with this cursor"),
  ],
  isScoped: true,
  examples: [
    "holdfast export memory.jsonl",
    "holdfast export --user ada | gzip > ada.jsonl.gz",
    "holdfast export memory.jsonl --resume",
  ],
  async run(call) {
    const { resume, cursor } = call.flags<ExportFlags>();
    const [path] = call.args;
    if (resume && path === undefined) {
      throw new HoldfastError("invalid_input", "--resume needs a file", { hint: "for stdout, use --cursor" });
    }
    const scope = hasScope(call.flags<ScopeFlags>()) ? call.scope : undefined;
    const file = path === undefined ? undefined : new ExportFile(path, resume === true);
    const start = cursor ?? file?.cursor;
    // A progress bar between the lines of the export would be noise.
    const progress = call.progress("exporting", file !== undefined || !call.printer.isTerminal);
    try {
      await call.withMemory(
        {},
        async (memory) => {
          const request = {
            signal: call.io.signal,
            ...(scope && { scope }),
            ...(start !== undefined && { cursor: start }),
          };
          let lines = 0;
          for await (const line of memory.export(request)) {
            if (file) file.write(line);
            else await call.printer.jsonLine(line);
            progress.update(++lines);
          }
          progress.end();
          if (file && !call.printer.json) return call.printer.line(`${counted(lines, "line")} written to ${path}`);
          if (file) return call.printer.value({ path, lines });
        },
        scope ? scopeText(scope) : "everyone",
      );
    } finally {
      progress.end();
      file?.close();
    }
  },
};

export const importCommand: Definition = {
  name: "import",
  args: "[file]",
  argHelp: { file: "an export, or messages as lines of JSON (default or -: stdin)" },
  purpose: "Import an export, or plain messages.",
  about:
    "Existing data is left unchanged. It can be run again after an interruption: nothing is added twice. Plain messages go to the given scope.",
  options: [
    choiceFlag("--on-conflict <what>", "what to do if an id exists with other content (default: stop)", [
      "stop",
      "skip",
    ]),
  ],
  isScoped: true,
  examples: [
    "holdfast import memory.jsonl",
    "holdfast import chat.jsonl --user ada --session monday",
    "gunzip -c ada.jsonl.gz | holdfast import",
  ],
  async run(call) {
    const { onConflict } = call.flags<{ onConflict?: OnConflict }>();
    const [path = "-"] = call.args;
    if (path === "-" && call.io.stdin.isTTY) {
      throw new HoldfastError("invalid_input", "nothing to import", { hint: "pass a file, or pipe one in" });
    }
    const progress = call.progress("importing");
    await call.withSession({ create: true }, async (_, memory) => {
      const input = path === "-" ? call.io.stdin : createReadStream(path, { fd: openForReading(path) });
      const lines = watchedLines(input, (count) => progress.update(count));
      const request = { scope: call.scope, signal: call.io.signal, ...(onConflict && { onConflict }) };
      await print(call, await memory.import(lines, request).finally(() => progress.end()));
    });
  },
};

/** Includes empty lines, so that line numbers are right. */
async function* watchedLines(input: Readable, onLine: (count: number) => void): AsyncGenerator<string> {
  let count = 0;
  for await (const text of splitLines(input)) {
    yield text;
    onLine(++count);
  }
}

const WRITTEN = [
  ["entries", "entry"],
  ["sessions", "session"],
  ["items", "item"],
  ["blocks", "block version"],
  ["facts", "fact"],
  ["superseded", "superseded span"],
  ["points", "point"],
  ["promotions", "promotion"],
] as const;

async function print(call: Call, report: ImportReport): Promise<void> {
  const { printer } = call;
  if (printer.json) return printer.value(report);
  const written = WRITTEN.flatMap(([key, noun]) => (report[key] > 0 ? [counted(report[key], noun)] : []));
  await printer.line(written.length > 0 ? `imported: ${written.join(", ")}` : "nothing new to import");
  if (report.repeated > 0) printer.note(styled("dim", `already there: ${counted(report.repeated, "line")}`));
  if (report.skipped > 0) printer.note(styled("dim", `skipped: ${counted(report.skipped, "line")}`));
  if (report.conflicts > 0)
    printer.note(styled("yellow", `existing with other content: ${counted(report.conflicts, "line")}`));
}
