/** Runs one command line and returns its exit code. It never exits or throws; main.ts and tests call it. */
import { type Command, CommanderError } from "commander";
import { HoldfastError } from "../errors.js";
import { Call } from "./call.js";
import type { Definition } from "./definition.js";
import { EXIT, exitCodeAt } from "./exit-code.js";
import { reportFailure } from "./failure.js";
import { inFlags } from "./in-flags.js";
import { endReasonOf, type Io, isEnding } from "./io.js";
import { Printer } from "./output/printer.js";
import { hasColor, painted } from "./output/style.js";
import { programOf, WELCOME } from "./program.js";
import { checkArguments } from "./raw-arguments.js";
import { scopeOptions } from "./scope-flags.js";

export async function run(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = programOf(io.env, async (command, definition) => {
    exitCode = await runOne(command, definition, io);
  });
  let refusing = program;
  prepare(program, io, (command) => {
    refusing = command;
  });
  try {
    checkArguments(argv, io.env);
    if (argv.length === 0) io.stdout.write(`${WELCOME}\n`);
    else await program.parseAsync([...asked(argv, program)], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && SHOWN.has(error.code)) return EXIT.ok;
    // A group without a subcommand has printed its help on stderr.
    if (error instanceof CommanderError && error.code === "commander.help") return error.exitCode && EXIT.usage;
    return reportFailure(inOrder(error, argv), new Printer(io, isJson(argv)), pathOf(refusing));
  }
}

const SHOWN: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

/** `help` of a command that does not exist is refused as the command itself. */
function asked(argv: readonly string[], program: Command): readonly string[] {
  const [help, name] = argv;
  if (help !== "help" || name === undefined) return argv;
  return program.commands.some((command) => [command.name(), ...command.aliases()].includes(name)) ? argv : [name];
}

async function runOne(command: Command, definition: Definition, io: Io): Promise<number> {
  const args = (command.processedArgs as readonly (string | readonly string[] | undefined)[]).flat();
  const call = new Call(io, {
    name: nameOf(command),
    args: args.filter((arg) => arg !== undefined),
    flags: command.optsWithGlobals(),
    program: rootOf(command),
  });
  try {
    await definition.run(call);
  } catch (error) {
    if (!isEnding(error, io.signal)) throw inFlags(error, command);
  }
  const reason = endReasonOf(io.signal);
  return reason && !definition.endsByInterrupt ? exitCodeAt(reason) : call.exitCode;
}

/** Scope flags come after the command, because each command has its own. */
function inOrder(error: unknown, [first = ""]: readonly string[]): unknown {
  const isUnknown = error instanceof CommanderError && error.code === "commander.unknownOption";
  const option = scopeOptions().find(({ long, short }) => [long, short].includes(first.split("=")[0]));
  if (!isUnknown || !option) return error;
  return new HoldfastError("invalid_input", `${first} must come after the command`, {
    hint: `for example: holdfast add "…" ${option.flags.replace(/^-., /, "")}`,
  });
}

/** Configures every command: commander copies settings only to subcommands that it creates itself. */
function prepare(command: Command, io: Io, onExit: (command: Command) => void): void {
  command
    .exitOverride((error) => {
      onExit(command);
      throw error;
    })
    .showHelpAfterError(false)
    .helpOption("-h, --help", "show help")
    .configureHelp({
      showGlobalOptions: command.commands.length === 0,
      subcommandTerm: termOf,
      minWidthToWrap: MIN_WIDTH,
      styleTitle: (title) => painted(title, "bold"),
    })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => {}, // reportFailure prints all errors
      getOutHelpWidth: () => io.stdout.columns || HELP_WIDTH,
      getErrHelpWidth: () => io.stderr.columns || HELP_WIDTH,
      getOutHasColors: () => hasColor(io.stdout, io.env),
      getErrHasColors: () => hasColor(io.stderr, io.env),
    });
  for (const one of command.commands) prepare(one, io, onExit);
}

const HELP_WIDTH = 100;
/** Below this many columns help is not broken into lines. */
const MIN_WIDTH = 20;

/** A command with its arguments, without "[options]". */
function termOf(command: Command): string {
  const args = command.registeredArguments.map((arg) => {
    const name = arg.name() + (arg.variadic ? "..." : "");
    return arg.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...args].join(" ");
}

function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
}

const pathOf = (command: Command): string => (command.parent ? `holdfast ${nameOf(command)}` : command.name());

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}

/** Works even if the command line could not be parsed. */
function isJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}
