/** Every command and flag, as known to commander. */
import type { Command, Option } from "commander";
import { programOf } from "./cli.js";

export interface Leaf {
  /** "blocks edit" */
  readonly name: string;
  readonly command: Command;
  /** Long names, without those of the scope. */
  readonly flags: readonly string[];
  readonly isScoped: boolean;
}

export const program = programOf(process.env, async () => {});
const SCOPE: ReadonlySet<string> = new Set(["--user", "--agent", "--team", "--session", "--space"]);

export const globalFlags = program.options.map(nameOf).filter((name) => name !== "--version");
export const leaves: readonly Leaf[] = leavesOf(program, "");

function leavesOf(command: Command, path: string): readonly Leaf[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((one) => leavesOf(one, path === "" ? one.name() : `${path} ${one.name()}`));
  }
  const names = command.options.map(nameOf);
  const isScoped = names.includes("--space");
  return [{ name: path, command, isScoped, flags: names.filter((name) => !isScoped || !SCOPE.has(name)) }];
}

function nameOf({ long }: Option): string {
  return long ?? "";
}
