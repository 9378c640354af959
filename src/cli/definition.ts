/** Definition: a command as it is written down: its name, its flags, how it is explained, and what it does. */
import { Argument, Command, Option } from "commander";
import type { Call } from "./call.js";
import { scopeOptions } from "./scope-flags.js";

export interface Definition {
  readonly name: string;
  /** As commander writes arguments: `<name> [text...]`. */
  readonly args?: string;
  /** What the arguments are, by name. */
  readonly argHelp?: { readonly [name: string]: string };
  /** What the arguments may be, where that is a list. */
  readonly argChoices?: { readonly [name: string]: readonly string[] };
  /** One line. */
  readonly purpose: string;
  /** What one should know before using it. */
  readonly about?: string;
  readonly options?: readonly Option[];
  /** True: takes --user, --agent, --team, --session and --space. */
  readonly isScoped?: boolean;
  /** True: Ctrl-C is its usual end, and no interruption. */
  readonly endsByInterrupt?: boolean;
  /** Two or three, that work as they stand. */
  readonly examples: readonly string[];
  run(call: Call): Promise<void>;
}

/** A command that only has others under it. */
export interface Group {
  readonly name: string;
  readonly purpose: string;
  readonly about?: string;
  readonly commands: readonly Definition[];
}

/** A flag. `parse` makes a value of its text, and of what came before it. */
export function flag<T>(flags: string, description: string, parse?: (text: string, before?: T) => T): Option {
  const option = new Option(flags, description);
  return parse ? option.argParser(parse) : option;
}

export function choiceFlag(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

export function commandOf(definition: Definition, act: (command: Command) => Promise<void>): Command {
  const { name, args, purpose, about, options = [], isScoped, examples } = definition;
  const command = new Command(name).description(about ? `${purpose}\n\n${about}` : purpose).summary(purpose);
  for (const written of args?.split(" ") ?? []) command.addArgument(argumentOf(written, definition));
  for (const option of options) command.addOption(option);
  if (isScoped) for (const option of scopeOptions()) command.addOption(option.helpGroup("Whose memory:"));
  command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  $ ${line}`).join("\n")}`);
  return command.action((...given: readonly unknown[]) => act(given.at(-1) as Command));
}

function argumentOf(written: string, { argHelp = {}, argChoices = {} }: Definition): Argument {
  const name = written.replace(/[<>[\].]/g, "");
  const argument = new Argument(written, argHelp[name] ?? "");
  const choices = argChoices[name];
  return choices ? argument.choices(choices) : argument;
}

export function groupOf({ name, purpose, about }: Group, commands: readonly Command[]): Command {
  const group = new Command(name).description(about ? `${purpose}\n\n${about}` : purpose).summary(purpose);
  for (const command of commands) group.addCommand(command);
  return group;
}
