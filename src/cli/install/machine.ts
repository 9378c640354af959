/** Machine: whose home it is, on which system. All that is looked up here comes from it, so that tests make up their own. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../io.js";

export interface Machine {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Environment;
  /** The folder that a project's files are in. */
  readonly cwd: string;
}

export function machineOf(env: Environment, platform: NodeJS.Platform = process.platform): Machine {
  const home = (platform === "win32" ? env["USERPROFILE"] : env["HOME"]) || homedir();
  return { home, platform, env, cwd: process.cwd() };
}

/** Where desktop programs keep a person's settings. A relative XDG_CONFIG_HOME is to be ignored, as its specification says. */
export function settingsFolder({ home, platform, env }: Machine): string {
  const { XDG_CONFIG_HOME: xdg } = env;
  if (platform === "win32") return roamingFolder({ home, env });
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return xdg && isAbsolute(xdg) ? xdg : join(home, ".config");
}

export const roamingFolder = ({ home, env }: Pick<Machine, "home" | "env">): string =>
  env["APPDATA"] || join(home, "AppData", "Roaming");

/** A folder that a client lets its users move with an environment variable. */
export function folderNamed({ env, cwd }: Machine, variable: string): string | undefined {
  const named = env[variable];
  return named ? resolve(cwd, named) : undefined;
}
