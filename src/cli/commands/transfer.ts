/** holdfast export and import: a memory as lines of JSON. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { HoldfastError } from "../../errors.js";
import type { ImportReport, OnConflict } from "../../transfer/report.js";
import type { Call } from "../call.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { ExportFile } from "../export-file.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { hasScope, type ScopeFlags, scopeText } from "../scope-flags.js";
import { readLines } from "../stdin.js";

interface ExportFlags extends ScopeFlags {
  readonly cursor?: string;
  readonly resume?: boolean;
}

export const exportCommand: Definition = {
  name: "export",
  args: "[file]",
  argHelp: { file: "where to; it must not exist yet (default: stdout)" },
  purpose: "Write a memory as lines of JSON.",
  about:
    "Everything, or what the scope names. The last line says how many there are. An export that was cut off goes on where it was: --resume.",
  options: [
    flag("--resume", "go on with a file that was cut off"),
    flag("--cursor <cursor>", "go on after the line with this cursor"),
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
      throw new HoldfastError("invalid_input", "--resume needs the file", { hint: "for stdout there is --cursor" });
    }
    const scope = hasScope(call.flags<ScopeFlags>()) ? call.scope : undefined;
    const file = path === undefined ? undefined : new ExportFile(path, resume === true);
    const start = cursor ?? file?.cursor;
    // Between lines on the same terminal a bar would be noise.
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
  argHelp: { file: "an export, or messages as lines of JSON (default, or -: stdin)" },
  purpose: "Read an export, or plain messages, into a memory.",
  about:
    "What is there already is left as it is. Run it again after it was interrupted: nothing is added twice. Plain messages go to the scope that is named.",
  options: [
    choiceFlag("--on-conflict <what>", "if an id is there with other content (default: stop)", ["stop", "skip"]),
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
      throw new HoldfastError("invalid_input", "there is nothing to import", { hint: "name a file, or pipe one in" });
    }
    const progress = call.progress("importing");
    await call.withSession({ create: true }, async (_, memory) => {
      const input = path === "-" ? call.io.stdin : createReadStream(path);
      const lines = watchedLines(input, (count) => progress.update(count));
      const request = { scope: call.scope, signal: call.io.signal, ...(onConflict && { onConflict }) };
      await print(call, await memory.import(lines, request).finally(() => progress.end()));
    });
  },
};

/** Also the empty ones: whoever reads them counts them. */
async function* watchedLines(input: Readable, onLine: (count: number) => void): AsyncGenerator<string> {
  let count = 0;
  for await (const { text } of readLines(input, true)) {
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
] as const;

async function print(call: Call, report: ImportReport): Promise<void> {
  const { printer } = call;
  if (!report.complete) call.exitCode = EXIT.no;
  if (printer.json) return printer.value(report);
  const written = WRITTEN.flatMap(([key, noun]) => (report[key] > 0 ? [counted(report[key], noun)] : []));
  await printer.line(written.length > 0 ? `imported: ${written.join(", ")}` : "nothing new to import");
  if (report.repeated > 0) printer.note(styled("dim", `there already: ${counted(report.repeated, "line")}`));
  if (report.skipped > 0) printer.note(styled("dim", `left out: ${counted(report.skipped, "line")}`));
  if (report.conflicts > 0)
    printer.note(styled("yellow", `there with other content: ${counted(report.conflicts, "line")}`));
  if (!report.complete) printer.note(styled("yellow", "the file is not whole: its end is missing"));
}
