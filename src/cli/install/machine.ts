/** Machine: the user's home folder and the platform. All lookups go through it, so that tests can provide their own. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../io.js";

export interface Machine {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Environment;
  /** The project's folder. */
  readonly cwd: string;
}

export function machineOf(env: Environment, platform: NodeJS.Platform = process.platform): Machine {
  const home = (platform === "win32" ? env["USERPROFILE"] : env["HOME"]) || homedir();
  return { home, platform, env, cwd: process.cwd() };
}

/** The settings folder of desktop programs. By its specification, a relative XDG_CONFIG_HOME is ignored. */
export function settingsFolder({ home, platform, env }: Machine): string {
  const { XDG_CONFIG_HOME: xdg } = env;
  if (platform === "win32") return roamingFolder({ home, env });
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return xdg && isAbsolute(xdg) ? xdg : join(home, ".config");
}

export const roamingFolder = ({ home, env }: Pick<Machine, "home" | "env">): string =>
  env["APPDATA"] || join(home, "AppData", "Roaming");

/** A client's folder that an environment variable may override. */
export function folderNamed({ env, cwd }: Machine, variable: string): string | undefined {
  const named = env[variable];
  return named ? resolve(cwd, named) : undefined;
}
