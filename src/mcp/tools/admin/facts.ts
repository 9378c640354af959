/** memory_fact: what is known for sure, and from when to when it held. */
import { z } from "zod";
import { heading, inline, quoted } from "../../../context/fence.js";
import { HoldfastError } from "../../../errors.js";
import { FactSchema, NewFactSchema } from "../../../schemas/fact.js";
import { Name } from "../../../schemas/scope.js";
import type { Fact } from "../../../stores/facts.js";
import { Fill } from "../../fill.js";
import { idText } from "../../rendering.js";
import { tool } from "../../tool.js";

const COMMANDS = ["list", "record", "end", "retract"] as const;
const PAGE = 100;

const Shown = FactSchema.pick({ id: true, category: true, content: true, state: true, pinned: true });

export const factTool = tool({
  name: "memory_fact",
  title: "Facts",
  description:
    "Keep single facts that hold until they end: list them, record one (category and content; `supersedes` the id of the one it replaces), end one that holds no longer, retract one that was never right. Facts that hold are part of memory_context; pinned ones always.",
  access: "read",
  isDestructive: true,
  input: z.strictObject({
    command: z.enum(COMMANDS),
    id: Name.exactOptional().meta({ description: "end, retract" }),
    category: NewFactSchema.shape.category
      .exactOptional()
      .meta({ description: "record: such as preference; list: only these" }),
    content: NewFactSchema.shape.content.exactOptional(),
    pinned: z.boolean().exactOptional(),
    supersedes: Name.exactOptional(),
  }),
  output: z.object({ facts: z.array(Shown), omitted: z.int().exactOptional() }),
  async run({ session: { facts }, maxTokens, require }, given) {
    const { command, id, category, content, pinned, supersedes } = given;
    if (command !== "list") require("write");
    let found: readonly Fact[];
    let verb = "";
    switch (command) {
      case "list":
        found = (await facts.list({ limit: PAGE, ...(category !== undefined && { category }) })).items;
        break;
      case "record": {
        const wanted = { category: needed(category, "category"), content: needed(content, "content") };
        const more = { ...(pinned !== undefined && { pinned }), ...(supersedes !== undefined && { supersedes }) };
        const { outcome, fact } = await facts.upsert({ ...wanted, ...more });
        found = [fact];
        verb = `Recorded: ${outcome}.`;
        break;
      }
      case "end":
        found = [await facts.end(needed(id, "id"))];
        verb = "Ended.";
        break;
      case "retract":
        found = [await facts.retract(needed(id, "id"))];
        verb = "Retracted.";
        break;
    }
    const fill = new Fill<z.output<typeof Shown>>(maxTokens);
    for (const fact of found) if (!fill.add(pieceOf(fact), shownOf(fact))) break;
    const omitted = found.length - fill.shown.length;
    const notes = [
      ...(verb === "" ? [] : [verb]),
      ...(found.length === 0 ? ["There are no facts yet."] : []),
      ...(omitted > 0 ? [`${omitted} more do not fit: list one category.`] : []),
    ];
    return { data: { facts: fill.shown, ...(omitted > 0 && { omitted }) }, text: fill.text(...notes) };
  },
});

const pieceOf = ({ id, category, content, state, pinned }: Fact): string =>
  heading(idText(id), inline(category), ...(state === "holds" ? [] : [state]), ...(pinned ? ["pinned"] : [])) +
  quoted(content);

const shownOf = ({ id, category, content, state, pinned }: Fact) => ({ id, category, content, state, pinned });

function needed(value: string | undefined, field: string): string {
  if (value !== undefined) return value;
  throw new HoldfastError("invalid_input", `this command needs \`${field}\``, {
    hint: `call it again with \`${field}\``,
  });
}
