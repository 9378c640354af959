/** holdfast graph: imports and exports the memory file of the reference MCP server. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import type { GraphImportReport } from "../../compat/knowledge-graph/import-graph.js";
import { HoldfastError } from "../../errors.js";
import { openForReading } from "../../plain-file.js";
import { splitBytes } from "../../transfer/split-lines.js";
import type { Call } from "../call.js";
import type { Definition, Group } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";

const importCommand: Definition = {
  name: "import",
  args: "<file>",
  argHelp: { file: "its memory.jsonl; -: read stdin" },
  purpose: "Import the memory file of the reference MCP server.",
  about:
    "Existing entities are kept and get missing observations. It can be run again after an interruption: nothing is added twice. Unreadable lines are skipped and reported; the exit code is then 1.",
  isScoped: true,
  examples: ["holdfast graph import memory.jsonl", "holdfast graph import memory.jsonl --user ada"],
  async run(call) {
    const path = call.arg(0);
    if (path === "-" && call.io.stdin.isTTY) {
      throw new HoldfastError("invalid_input", "nothing to import", { hint: "pass a file, or pipe one in" });
    }
    const progress = call.progress("importing");
    await call.withSession({ create: true }, async (session) => {
      const { importGraph } = await import("../../compat/knowledge-graph/import-graph.js");
      const input = path === "-" ? call.io.stdin : createReadStream(path, { fd: openForReading(path) });
      const lines = watchedLines(input, (count) => progress.update(count));
      const { signal } = call.io;
      await print(call, await importGraph(session, lines, { signal }).finally(() => progress.end()));
    });
  },
};

const exportCommand: Definition = {
  name: "export",
  purpose: "Export the graph as a memory file of the reference MCP server.",
  about: "Writes one JSON line per entity and relation to stdout.",
  isScoped: true,
  examples: ["holdfast graph export > memory.jsonl", "holdfast graph export --user ada | wc -l"],
  async run(call) {
    await call.withSession({}, async (session) => {
      const { exportGraphLines } = await import("../../compat/knowledge-graph/export-graph.js");
      for await (const line of exportGraphLines(session)) {
        if (call.io.signal.aborted) return;
        await call.printer.jsonLine(line);
      }
    });
  },
};

/** As bytes, so that a line that is not UTF-8 can be skipped. */
async function* watchedLines(input: Readable, onLine: (count: number) => void): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const line of splitBytes(input)) {
    yield line;
    onLine(++count);
  }
}

async function print(call: Call, report: GraphImportReport): Promise<void> {
  const { printer } = call;
  const { entities, relations, observations, repeated, skipped, unread } = report;
  if (skipped > 0) call.exitCode = EXIT.no;
  if (printer.json) return printer.value(report);
  const written = [
    ...(entities > 0 ? [counted(entities, "entity")] : []),
    ...(relations > 0 ? [counted(relations, "relation")] : []),
    ...(observations > 0 ? [`${counted(observations, "observation")} of existing entities`] : []),
  ];
  await printer.line(written.length > 0 ? `imported: ${written.join(", ")}` : "nothing new to import");
  if (repeated > 0) printer.note(styled("dim", `already there: ${counted(repeated, "line")}`));
  if (skipped > 0) printer.note(styled("yellow", `skipped: ${counted(skipped, "line")}`));
  for (const { line, why } of unread) printer.note(styled("yellow", `line ${line}: ${why}`));
}

export const graphGroup: Group = {
  name: "graph",
  purpose: "Import and export knowledge graphs of the reference MCP server.",
  commands: [importCommand, exportCommand],
};
