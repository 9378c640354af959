/** The tools, in groups. The core is always there; the others are for those who ask for them. */
import { HoldfastError } from "../errors.js";
import type { Tool, ToolGroup } from "./tool.js";
import { blockTool } from "./tools/block.js";
import { contextTool } from "./tools/context.js";
import { forgetTool } from "./tools/forget.js";
import { getTool } from "./tools/get.js";
import { saveTool } from "./tools/save.js";
import { searchTool } from "./tools/search.js";
import { statusTool } from "./tools/status.js";

export const CORE: readonly Tool[] = [saveTool, searchTool, getTool, contextTool, forgetTool, blockTool, statusTool];

/** Those that are offered only when asked for. */
export const GROUPS: readonly ToolGroup[] = [];

/** `admin,openai` → their tools. Refuses a name that is none (`invalid_input`). */
export function toolsOf(text: string | undefined): readonly Tool[] {
  const names = (text ?? "").split(",").map((name) => name.trim());
  const chosen = names.filter((name) => name !== "" && name !== "core").map(groupNamed);
  return [...CORE, ...new Set(chosen)].flatMap((one) => ("tools" in one ? one.tools : [one]));
}

function groupNamed(name: string): ToolGroup {
  const group = GROUPS.find((one) => one.name === name);
  if (group) return group;
  throw new HoldfastError("invalid_input", `there is no group of tools of this name: ${name.slice(0, 64)}`, {
    hint: `there are: core, ${GROUPS.map((one) => one.name).join(", ")}`,
  });
}
