/** holdfast reindex: re-embeds everything with another model. */
import type { ReindexReport } from "../../reindexing/reindex-run.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { embeddingModelAt, openFile } from "../place.js";
import { whereParts } from "../scope-flags.js";

interface ReindexFlags {
  readonly model?: string;
  readonly abandon?: boolean;
}

export const reindexCommand: Definition = {
  name: "reindex",
  purpose: "Re-embed everything with another model.",
  about:
    "The old vectors stay in use until the new ones are complete. After an interruption, run it again to continue. Afterwards, set the model in the configuration of everything that uses the file.",
  options: [
    flag("--model <name>", "the new model (default: the configured one)"),
    flag("--abandon", "discard an unfinished reindex"),
  ],
  examples: ["holdfast reindex --model all-MiniLM-L6-v2", "holdfast reindex --abandon"],
  async run(call) {
    const { abandon } = call.flags<ReindexFlags>();
    const place = await call.file();
    const model = call.flags<ReindexFlags>().model ?? (await embeddingModelAt(place, call.io.env));
    // Opened without a model, because the file's vectors may be of any model.
    const memory = await openFile(place, {});
    const progress = call.progress("embedding");
    try {
      call.printer.note(...whereParts("everyone", place.path));
      if (abandon) return await printAbandoned(call, await memory.abandonReindex());
      const report = await memory.reindex({
        model,
        signal: call.io.signal,
        onProgress: ({ embedded, remaining }) => progress.update(embedded, embedded + remaining),
      });
      progress.end();
      await print(call, model, report);
    } finally {
      progress.end();
      await memory.close();
    }
  },
};

async function print({ printer }: Call, model: string, report: ReindexReport): Promise<void> {
  if (printer.json) return printer.value(report);
  const { switched, embedded } = report;
  await printer.line(
    switched ? `${counted(embedded, "item")} embedded by ${model}` : `everything is already embedded by ${model}`,
  );
  if (report.refused > 0) printer.note(styled("yellow", `${counted(report.refused, "item")} could not be embedded`));
  printer.note(`set it for everything that uses the file: buffer.hybrid_buffer.embedding_model: ${model}`);
}

async function printAbandoned({ printer }: Call, abandoned: boolean): Promise<void> {
  if (printer.json) return printer.value({ abandoned });
  await printer.line(abandoned ? "discarded; the current vectors stay in use" : "there was no unfinished reindex");
}
