/** The arguments that `holdfast install` passes to `holdfast mcp`. */
import { resolve } from "node:path";
import { HoldfastError } from "../../errors.js";
import { ANSWER_TOKENS_MIN } from "../../mcp/limits.js";
import type { Environment } from "../io.js";
import { IN_MEMORY, type Place, type PlaceFlags, placeOf } from "../place.js";
import type { ScopeFlags } from "../scope-flags.js";
import { KEY_VARIABLE } from "./entry.js";

export interface PassedFlags extends PlaceFlags, ScopeFlags {
  readonly tools?: string;
  readonly maxTokens?: number;
  readonly readOnly?: boolean;
}

/** Variables that select the memory. The client is not started from this shell, so it does not see them. */
const PLACE_VARIABLES = ["HOLDFAST_URL", "HOLDFAST_STORE_PATH", "HOLDFAST_CONFIG"];

/** Only what was given; `holdfast mcp` has its own defaults. Paths become absolute: a client may start it anywhere. */
export function argsOf(
  { user, agent, team, session, space, path, config, url, tools, maxTokens, readOnly }: PassedFlags,
  cwd: string,
): string[] {
  const said = {
    "--user": user,
    "--agent": agent,
    "--team": team,
    "--session": session,
    "--space": space,
    "--path": path === undefined || path === IN_MEMORY ? path : resolve(cwd, path),
    "--config": config === undefined ? undefined : resolve(cwd, config),
    "--url": url,
    "--tools": tools,
    "--max-tokens": maxTokens?.toString(),
  };
  const withValues = Object.entries(said).flatMap(([flag, value]) => (value === undefined ? [] : written(flag, value)));
  return readOnly ? [...withValues, "--read-only"] : withValues;
}

/** A value that looks like a flag is joined with `=`. */
const written = (flag: string, value: string): readonly string[] =>
  value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];

/** Reports here what `holdfast mcp` would refuse at its start. */
export function refuseTooShort(maxTokens: number): void {
  if (maxTokens >= ANSWER_TOKENS_MIN) return;
  throw new HoldfastError("invalid_input", "--max-tokens is too small for an answer", {
    hint: `pass at least ${ANSWER_TOKENS_MIN}`,
  });
}

/** The requested tool groups, without duplicates. Refuses unknown names. */
export async function toolGroups(text: string): Promise<string> {
  const { groupsOf } = await import("../../mcp/groups.js");
  return groupsOf(text)
    .map(({ name }) => name)
    .join(",");
}

/** The memory that the client will work on: by the flags, not by this shell's variables. */
export function placeFor(flags: PlaceFlags, env: Environment): Promise<Place> {
  const names = Object.keys(env).filter((name) => !name.startsWith("HOLDFAST_") || name === KEY_VARIABLE);
  return placeOf(flags, Object.fromEntries(names.map((name) => [name, env[name]])));
}

/** Variables that select the memory in this shell and that the client will not see. */
export function unseenVariables({ path, url, config }: PlaceFlags, env: Environment): readonly string[] {
  if (path !== undefined || url !== undefined || config !== undefined) return [];
  return PLACE_VARIABLES.filter((name) => env[name]);
}
