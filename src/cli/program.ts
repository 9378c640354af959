/** The command tree and the global options. */

import { Command, Option } from "commander";
import { VERSION } from "../version.js";
import { addCommand } from "./commands/add.js";
import { parkedCommand, replayCommand } from "./commands/backlog.js";
import { blocksGroup } from "./commands/blocks.js";
import { completionCommand } from "./commands/completion.js";
import { configCommand } from "./commands/config.js";
import { contextCommand } from "./commands/context.js";
import { entryGroups } from "./commands/entries.js";
import { factsGroup } from "./commands/facts.js";
import { flushCommand } from "./commands/flush.js";
import { forgetCommand } from "./commands/forget.js";
import { graphGroup } from "./commands/graph.js";
import { installCommand } from "./commands/install.js";
import { editCommand, getCommand } from "./commands/items.js";
import { keyGroup } from "./commands/keys.js";
import { mcpCommand } from "./commands/mcp.js";
import { queryCommand } from "./commands/query.js";
import { reindexCommand } from "./commands/reindex.js";
import { retainCommand } from "./commands/retain.js";
import { serveCommand } from "./commands/serve.js";
import { sessionsGroup } from "./commands/sessions.js";
import { statsCommand } from "./commands/stats.js";
import { tailCommand } from "./commands/tail.js";
import { exportCommand, importCommand } from "./commands/transfer.js";
import { backupCommand, doctorCommand, restoreCommand } from "./commands/upkeep.js";
import { defaultPath } from "./default-path.js";
import { commandOf, type Definition, type Group, groupOf } from "./definition.js";
import { EXIT_CODES } from "./exit-code.js";
import type { Environment } from "./io.js";

type Act = (command: Command, definition: Definition) => Promise<void>;

/** In the order of the help text. */
export const COMMANDS: readonly (readonly [heading: string, commands: readonly (Definition | Group)[]])[] = [
  [
    "Remember and find:",
    [addCommand, queryCommand, contextCommand, tailCommand, getCommand, editCommand, forgetCommand, retainCommand],
  ],
  ["Blocks and facts:", [blocksGroup, factsGroup]],
  ["Registry:", [sessionsGroup, ...entryGroups]],
  ["Server:", [serveCommand, mcpCommand, installCommand, keyGroup]],
  [
    "File:",
    [
      exportCommand,
      importCommand,
      graphGroup,
      backupCommand,
      restoreCommand,
      reindexCommand,
      flushCommand,
      parkedCommand,
      replayCommand,
      doctorCommand,
      statsCommand,
      configCommand,
    ],
  ],
  ["Help:", [completionCommand]],
];

export const WELCOME = `Holdfast is memory for AI agents: durable and searchable when the command returns. One file, no key, no server.

Start with:
  holdfast add <text>        store a message
  holdfast query <text>      search by words and by meaning
  holdfast context <text>    print the context for a model's next turn
  holdfast tail              follow a memory live
  holdfast serve             serve it over HTTP
  holdfast mcp               serve it to an MCP client

Try it:
  $ holdfast add "I moved to Lisbon in May."
  $ holdfast query "where do I live?"

holdfast --help lists all commands; holdfast <command> --help shows the details of one.`;

const exitCodes = (): string =>
  `\nExit codes:\n${EXIT_CODES.map(([code, meaning]) => `  ${String(code).padEnd(5)} ${meaning}`).join("\n")}`;

export function programOf(env: Environment, act: Act): Command {
  const program = new Command("holdfast")
    .description("Memory for AI agents, in one file.")
    .version(VERSION, "-V, --version", "print the version")
    .addHelpCommand(
      new Command("help").argument("[command]").description("Show help for a command.").helpGroup("Help:"),
    )
    .optionsGroup("Global Options:");
  for (const option of globalOptions(env)) program.addOption(option);
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const one of commands) program.addCommand(built(one, act));
  }
  program.addHelpText("after", exitCodes());
  return program;
}

const globalOptions = (env: Environment): readonly Option[] => [
  new Option("--json", "print JSON, including errors"),
  new Option("--path <file>", `the memory's file (or HOLDFAST_STORE_PATH; default: ${defaultPath(env)})`),
  new Option("--config <file>", "a YAML file of options (or HOLDFAST_CONFIG)"),
  new Option("--url <url>", "use a running server instead of a file (or HOLDFAST_URL)"),
  new Option("--key <key>", "its API key; prefer HOLDFAST_KEY, because other users of this machine can see flags"),
];

function built(one: Definition | Group, act: Act): Command {
  if ("run" in one) return commandOf(one, (command) => act(command, one));
  const commands = one.commands.map((each) => commandOf(each, (command) => act(command, each)));
  return groupOf(one, commands);
}
