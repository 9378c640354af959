/**
 * The default file of all commands: one per user account, so that a memory is the same from every folder and for the server.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./io.js";

const FILE = "memory.db";

export function defaultPath(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(dataFolder(env, platform), "holdfast", FILE);
}

/** The data folder of the platform. By its specification, a relative XDG_DATA_HOME is ignored. */
function dataFolder(env: Environment, platform: NodeJS.Platform): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  if (platform === "win32") return local || join(homedir(), "AppData", "Local");
  if (xdg?.startsWith("/")) return xdg;
  if (platform === "darwin") return join(homedir(), "Library", "Application Support");
  return join(homedir(), ".local", "share");
}
