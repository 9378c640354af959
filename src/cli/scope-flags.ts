/** The scope of a command. Without a user, team or agent it is the user `default`. */
import { Option } from "commander";
import { HoldfastError } from "../errors.js";
import type { Scope, SpaceKind, SpaceRef } from "../types.js";
import type { Part } from "./output/style.js";

export interface ScopeFlags {
  readonly user?: string;
  readonly agent?: string;
  readonly team?: string;
  readonly session?: string;
  readonly space?: SpaceKind;
}

export const DEFAULT_USER = "default";

export const scopeOptions = (): readonly Option[] => [
  new Option("-u, --user <name>", `the user (default: "${DEFAULT_USER}", if no team or agent is given)`),
  new Option("-a, --agent <name>", "the agent; by itself, the agent's own memory"),
  new Option("-t, --team <name>", "the team; by itself, the team's own memory"),
  new Option("-s, --session <name>", "the session"),
  new Option("--space <kind>", "which of them owns the memory, if several are given").choices([
    "user",
    "agent",
    "team",
  ]),
];

export function hasScope({ user, agent, team, session }: ScopeFlags): boolean {
  return [user, agent, team, session].some((name) => name !== undefined);
}

export function scopeOf({ user, agent, team, session, space }: ScopeFlags): Scope {
  const isNamed = user !== undefined || agent !== undefined || team !== undefined;
  const owners = { user: isNamed ? user : DEFAULT_USER, agent, team };
  if (space !== undefined && owners[space] === undefined) {
    throw new HoldfastError("invalid_input", `--space is ${space}, but no ${space} is named`, {
      hint: `pass --${space} NAME`,
    });
  }
  return {
    ...(owners.user !== undefined && { user: owners.user }),
    ...(agent !== undefined && { agent }),
    ...(team !== undefined && { team }),
    ...(session !== undefined && { session }),
    ...(space !== undefined && { space }),
  };
}

/** The space of a scope's items, as the engine chooses it. */
export function spaceOf({ user, team, agent, space }: Scope): SpaceRef {
  const kind = space ?? (user !== undefined ? "user" : team !== undefined ? "team" : "agent");
  return { [kind]: { user, team, agent }[kind] } as SpaceRef;
}

export function spaceText(space: SpaceRef): string {
  const [[kind, name] = ["", ""]] = Object.entries(space);
  return `${kind} ${name}`;
}

/** `user ada · agent tutor · session monday`: the space first. */
export function scopeText(scope: Scope): string {
  const { agent, session } = scope;
  const space = spaceOf(scope);
  const others = [
    ...(agent !== undefined && !("agent" in space) ? [`agent ${agent}`] : []),
    ...(session !== undefined ? [`session ${session}`] : []),
  ];
  return [spaceText(space), ...others].join(" · ");
}

export const whereParts = (what: string, where: string): readonly Part[] => [
  { style: "dim", text: `${what} in ${where}` },
];
