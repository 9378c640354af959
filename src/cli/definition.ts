/** Definition: a command's name, flags, help and implementation. */
import { Argument, Command, Option } from "commander";
import type { Call } from "./call.js";
import { scopeOptions } from "./scope-flags.js";

export interface Definition {
  readonly name: string;
  /** Another name for it, as other tools call it. */
  readonly alias?: string;
  /** In commander's notation: `<name> [text...]`. */
  readonly args?: string;
  /** Help for the arguments, by name. */
  readonly argHelp?: { readonly [name: string]: string };
  /** The allowed values of arguments, by name. */
  readonly argChoices?: { readonly [name: string]: readonly string[] };
  /** One line. */
  readonly purpose: string;
  /** Details to know before using it. */
  readonly about?: string;
  readonly options?: readonly Option[];
  /** Takes --user, --agent, --team, --session and --space. "space": refuses --session, with a hint. */
  readonly isScoped?: boolean | "space";
  /** True: takes --idempotency-key. */
  readonly isKeyed?: boolean;
  /** True: Ctrl-C is its normal end. */
  readonly endsByInterrupt?: boolean;
  /** Two or three that work as written. */
  readonly examples: readonly string[];
  run(call: Call): Promise<void>;
}

/** A command that only has subcommands. */
export interface Group {
  readonly name: string;
  readonly alias?: string;
  readonly purpose: string;
  readonly about?: string;
  readonly commands: readonly Definition[];
}

/** A flag. `parse` converts its text, given the value so far. */
export function flag<T>(flags: string, description: string, parse?: (text: string, before?: T) => T): Option {
  const option = new Option(flags, description);
  return parse ? option.argParser(parse) : option;
}

export function choiceFlag(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

export function commandOf(definition: Definition, act: (command: Command) => Promise<void>): Command {
  const { name, alias, args, purpose, about, options = [], isScoped, isKeyed, examples } = definition;
  const command = new Command(name).description(about ? `${purpose}\n\n${about}` : purpose).summary(purpose);
  if (alias !== undefined) command.alias(alias);
  for (const written of args?.split(" ") ?? []) command.addArgument(argumentOf(written, definition));
  for (const option of options) command.addOption(option);
  if (isKeyed)
    command.addOption(flag("--idempotency-key <key>", "a retry with the same key writes nothing (for 7 days of use)"));
  if (isScoped) {
    for (const option of scopeOptions()) {
      command.addOption(option.helpGroup("Scope:").hideHelp(isScoped === "space" && option.long === "--session"));
    }
  }
  command.addHelpText("after", ({ command: asked }) => {
    const width = asked.configureOutput().getOutHelpWidth?.() ?? Infinity;
    return `\nExamples:\n${examples.map((line) => exampleLines(line, width)).join("\n")}`;
  });
  return command.action((...given: readonly unknown[]) => act(given.at(-1) as Command));
}

/** An example that a shell takes as shown: a long one continues after a backslash, and never breaks inside quotes. */
function exampleLines(example: string, width: number): string {
  const words = example.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  const lines: string[] = [];
  let line = "  $";
  for (const word of words) {
    if (line.trim() !== "$" && line.trim() !== "" && `${line} ${word} \\`.length > width) {
      lines.push(`${line} \\`);
      line = "     ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

function argumentOf(written: string, { argHelp = {}, argChoices = {} }: Definition): Argument {
  const name = written.replace(/[<>[\].]/g, "");
  const argument = new Argument(written, argHelp[name] ?? "");
  const choices = argChoices[name];
  return choices ? argument.choices(choices) : argument;
}

export function groupOf({ name, alias, purpose, about }: Group, commands: readonly Command[]): Command {
  const group = new Command(name).description(about ? `${purpose}\n\n${about}` : purpose).summary(purpose);
  group.helpCommand("help [command]", "Show help for a command.");
  if (alias !== undefined) group.alias(alias);
  for (const command of commands) group.addCommand(command);
  return group;
}
