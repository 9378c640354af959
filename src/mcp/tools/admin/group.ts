/** The group `admin`: tools for maintaining a memory. They stay within the scope, as the core does. */
import type { ToolGroup } from "../../tool.js";
import { factTool } from "./facts.js";
import { flushTool } from "./flush.js";
import { listTool } from "./list.js";
import { forgetSessionTool, sessionsTool } from "./sessions.js";
import { updateTool } from "./update.js";

export const adminGroup: ToolGroup = {
  name: "admin",
  tools: [listTool, updateTool, factTool, sessionsTool, forgetSessionTool, flushTool],
};
