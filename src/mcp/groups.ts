/** The tools, in groups: the core, and others for those who ask for them. */
import { HoldfastError } from "../errors.js";
import { memoryGuide } from "./guide.js";
import type { ToolGroup } from "./tool.js";
import { adminGroup } from "./tools/admin/group.js";
import { blockTool } from "./tools/block.js";
import { contextTool } from "./tools/context.js";
import { forgetTool } from "./tools/forget.js";
import { getTool } from "./tools/get.js";
import { openaiGroup } from "./tools/openai.js";
import { referenceGroup } from "./tools/reference.js";
import { saveTool } from "./tools/save.js";
import { searchTool } from "./tools/search.js";
import { statusTool } from "./tools/status.js";

const core: ToolGroup = {
  name: "core",
  tools: [saveTool, searchTool, getTool, contextTool, forgetTool, blockTool, statusTool],
  guide: memoryGuide,
};

/** The core, and those that are offered only when asked for. */
export const GROUPS: readonly ToolGroup[] = [core, adminGroup, openaiGroup, referenceGroup];
export const GROUP_NAMES = GROUPS.map(({ name }) => name);

/** `core,admin` → these groups; the core alone if nothing is said. Refuses a name that is none (`invalid_input`). */
export function groupsOf(text = core.name): readonly ToolGroup[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.map(groupNamed))];
}

function groupNamed(name: string): ToolGroup {
  const group = GROUPS.find((one) => one.name === name);
  if (group) return group;
  throw new HoldfastError(
    "invalid_input",
    `there is no group of tools of this name: ${JSON.stringify(name.slice(0, 64))}`,
    {
      hint: `there are: ${GROUP_NAMES.join(", ")}; several with commas`,
    },
  );
}
