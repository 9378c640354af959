/** holdfast graph: knowledge graphs from and to the memory file of the reference MCP server. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { HoldfastError } from "../../errors.js";
import type { GraphImportReport } from "../../graph/import-graph.js";
import { splitLines } from "../../transfer/split-lines.js";
import type { Call } from "../call.js";
import type { Definition, Group } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";

const importCommand: Definition = {
  name: "import",
  args: "<file>",
  argHelp: { file: "its memory.jsonl (-: stdin)" },
  purpose: "Read the memory file of the reference MCP server into a graph.",
  about:
    "What is there stays; entities get the observations that they lack. Run it again after it was interrupted: nothing is added twice. Lines that cannot be read are left out and named; then the exit code is 1.",
  isScoped: true,
  examples: ["holdfast graph import memory.jsonl", "holdfast graph import memory.jsonl --user ada"],
  async run(call) {
    const path = call.arg(0);
    if (path === "-" && call.io.stdin.isTTY) {
      throw new HoldfastError("invalid_input", "there is nothing to import", { hint: "name a file, or pipe one in" });
    }
    const progress = call.progress("importing");
    await call.withSession({ create: true }, async (session) => {
      const { importGraph } = await import("../../graph/import-graph.js");
      const input = path === "-" ? call.io.stdin : createReadStream(path);
      const lines = watchedLines(input, (count) => progress.update(count));
      const { signal } = call.io;
      await print(call, await importGraph(session, lines, { signal }).finally(() => progress.end()));
    });
  },
};

const exportCommand: Definition = {
  name: "export",
  purpose: "Write the graph as the memory file of the reference MCP server.",
  about: "To stdout, a line of JSON for each entity and each relation.",
  isScoped: true,
  examples: ["holdfast graph export > memory.jsonl", "holdfast graph export --user ada | wc -l"],
  async run(call) {
    await call.withSession({}, async (session) => {
      const { exportGraphLines } = await import("../../graph/export-graph.js");
      for await (const line of exportGraphLines(session)) {
        if (call.io.signal.aborted) return;
        await call.printer.jsonLine(line);
      }
    });
  },
};

/** Bytes that are no text are read as the reference server reads them: as U+FFFD. */
async function* watchedLines(input: Readable, onLine: (count: number) => void): AsyncGenerator<string> {
  let count = 0;
  for await (const line of splitLines(input)) {
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
    ...(observations > 0 ? [`${counted(observations, "observation")} of entities that were there`] : []),
  ];
  await printer.line(written.length > 0 ? `imported: ${written.join(", ")}` : "nothing new to import");
  if (repeated > 0) printer.note(styled("dim", `there already: ${counted(repeated, "line")}`));
  if (skipped > 0) printer.note(styled("yellow", `left out: ${counted(skipped, "line")}`));
  for (const { line, why } of unread) printer.note(styled("yellow", `line ${line}: ${why}`));
}

export const graphGroup: Group = {
  name: "graph",
  purpose: "Knowledge graphs, from and to the reference MCP server's file.",
  commands: [importCommand, exportCommand],
};
