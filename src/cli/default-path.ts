/**
 * The file that every command uses when none is named: one per person, so that what was added in one folder is found in
 * another, and what a server serves is what the commands see.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./io.js";

const FILE = "memory.db";

export function defaultPath(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(dataFolder(env, platform), "holdfast", FILE);
}

/** Where programs keep a person's data. A relative XDG_DATA_HOME is to be ignored, as its specification says. */
function dataFolder(env: Environment, platform: NodeJS.Platform): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  if (platform === "win32") return local || join(homedir(), "AppData", "Local");
  if (xdg?.startsWith("/")) return xdg;
  if (platform === "darwin") return join(homedir(), "Library", "Application Support");
  return join(homedir(), ".local", "share");
}
