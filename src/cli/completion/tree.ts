/** The command tree for completion scripts: for each command its path, its words, and the values of its flags. */
import type { Command, Option } from "commander";

export interface CompletionFlag {
  /** --limit and -n. */
  readonly names: readonly string[];
  readonly description: string;
  /** The value: none (undefined), one of these words, a file, or any text. */
  readonly value?:
    | { readonly kind: "choice"; readonly choices: readonly string[] }
    | { readonly kind: "file" | "text" };
}

export interface CompletionNode {
  /** "" for holdfast itself, else "blocks edit". */
  readonly path: string;
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly CompletionFlag[];
  /** Whether its arguments are files. */
  readonly takesFiles: boolean;
  /** Words that its first argument may be. */
  readonly words: readonly string[];
}

const FILE_ARGUMENTS: ReadonlySet<string> = new Set(["file", "to", "from"]);

/** All commands, starting with holdfast itself. */
export function completionTree(program: Command): readonly CompletionNode[] {
  const shared = program.options.filter(({ long }) => long !== "--version").map(flagOf);
  return nodesOf(program, "", shared);
}

function nodesOf(command: Command, path: string, shared: readonly CompletionFlag[]): readonly CompletionNode[] {
  const isRoot = path === "";
  const own = isRoot ? command.options.map(flagOf) : [...command.options.map(flagOf), ...shared];
  const help: CompletionFlag = { names: ["--help", "-h"], description: "show help" };
  const node: CompletionNode = {
    path,
    description: command.summary() || command.description(),
    commands: command.commands.map((one) => ({ name: one.name(), description: one.summary() })),
    flags: [...own, help],
    takesFiles: command.registeredArguments.some((arg) => FILE_ARGUMENTS.has(arg.name()) && !isVersioned(command)),
    words: command.registeredArguments[0]?.argChoices ?? [],
  };
  const under = command.commands.flatMap((one) => nodesOf(one, isRoot ? one.name() : `${path} ${one.name()}`, shared));
  return [node, ...under];
}

/** Arguments named `from` and `to` of `blocks diff` are versions, not files. */
const isVersioned = (command: Command): boolean => command.parent?.name() === "blocks";

function flagOf({ long, short, description, argChoices, required, flags }: Option): CompletionFlag {
  const names = [long, short].filter((name) => name !== undefined && name !== null);
  if (argChoices) return { names, description, value: { kind: "choice", choices: argChoices } };
  if (!required) return { names, description };
  return { names, description, value: { kind: flags.endsWith("<file>") ? "file" : "text" } };
}
