/** The tool groups: core, and optional ones. */
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

/** Core, and the groups that are offered only on request. */
export const GROUPS: readonly ToolGroup[] = [core, adminGroup, openaiGroup, referenceGroup];
const GROUP_NAMES = GROUPS.map(({ name }) => name);

/** Parses `core,admin`. Default: core. Throws `invalid_input` for an unknown name. */
export function groupsOf(text = core.name): readonly ToolGroup[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.map(groupNamed))];
}

function groupNamed(name: string): ToolGroup {
  const group = GROUPS.find((one) => one.name === name);
  if (group) return group;
  throw new HoldfastError("invalid_input", `unknown tool group: ${JSON.stringify(name.slice(0, 64))}`, {
    hint: `the groups are ${GROUP_NAMES.join(", ")}; separate several with commas`,
  });
}
