/** memory_status: the scope and the state of the memory. */
import { z } from "zod";
import { inline } from "../../context/fence.js";
import { ScopeSchema } from "../../schemas/scope.js";
import { estimateTokens } from "../../tokens/estimate.js";
import { VERSION } from "../../version.js";
import { AnswerBuilder } from "../answer-builder.js";
import { day, fenced, listed } from "../rendering.js";
import { tool } from "../tool.js";
import { wholeSpace } from "../whole-space.js";

/** Counting stops here. */
const COUNT_MAX = 100;

export const statusTool = tool({
  name: "memory_status",
  title: "Memory status",
  description:
    "Get the scope of this memory, its blocks, when something was last saved, and what is waiting to be indexed. Use it when the user asks about the memory itself, or when results look wrong.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({}),
  output: z.object({
    version: z.string(),
    scope: z.object(ScopeSchema.shape),
    blocks: z.array(z.string()),
    lastSavedAt: z.number().exactOptional(),
    waiting: z.int().meta({ description: "Searchable by words, not yet by meaning" }),
    parked: z.int().meta({ description: "Could not be indexed by meaning" }),
  }),
  async run(place) {
    const { session } = place;
    const whole = wholeSpace(place);
    const [newest, blocks, waiting, parked] = await Promise.all([
      whole.list({ limit: 1, order: "desc" }),
      session.blocks.list(),
      whole.list({ bufferOnly: true, limit: COUNT_MAX }),
      whole.parked({ limit: COUNT_MAX }),
    ]);
    const last = newest.items[0]?.recordedAt;
    const names = new AnswerBuilder<string>(place.maxTokens - estimateTokens(JSON.stringify(session.scope)));
    for (const { name } of blocks) if (!names.add(listed("", [name]), name)) break;
    const data = {
      version: VERSION,
      scope: session.scope,
      blocks: names.shown,
      ...(last !== undefined && { lastSavedAt: last }),
      waiting: waiting.items.length,
      parked: parked.items.length,
    };
    const omitted = blocks.length - names.shown.length;
    const lines = [
      `Holdfast ${VERSION}: ${Object.entries(session.scope)
        .map(([kind, name]) => `${kind} ${inline(name)}`)
        .join(", ")}`,
      last === undefined ? "Nothing saved yet." : `Last saved: ${day(last)}`,
      names.isEmpty ? "Blocks: none" : listed("Blocks:", names.shown),
      ...(omitted > 0 ? [`${omitted} more blocks: memory_block view`] : []),
      `Waiting to be indexed by meaning: ${counted(data.waiting)}; could not be: ${counted(data.parked)}`,
    ];
    return { data, text: fenced([], ...lines) };
  },
});

const counted = (count: number): string => (count === COUNT_MAX ? `${COUNT_MAX} or more` : String(count));
