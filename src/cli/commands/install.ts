/** holdfast install: tells MCP clients of this memory, in their own files, and takes it back. */
import { HoldfastError } from "../../errors.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { wholeNumber } from "../flag-values.js";
import type { Change, Wish } from "../install/change.js";
import { CLIENTS, clientNamed } from "../install/client.js";
import { type Entry, holdsKey } from "../install/entry.js";
import { argsWith, launchOf, runningHere } from "../install/launch.js";
import { type Machine, machineOf } from "../install/machine.js";
import type { EntryState } from "../install/overview.js";
import {
  argsOf,
  type PassedFlags,
  placeFor,
  refuseTooShort,
  toolGroups,
  unseenVariables,
} from "../install/passed-on.js";
import { type Part, styled } from "../output/style.js";
import { placeText } from "../place.js";
import { scopeText, whereParts } from "../scope-flags.js";

interface InstallFlags extends PassedFlags {
  readonly name: string;
  readonly project?: boolean;
  readonly dryRun?: boolean;
  readonly print?: boolean;
  readonly uninstall?: boolean;
  readonly force?: boolean;
}

export const installCommand: Definition = {
  name: "install",
  args: "[client]",
  argHelp: { client: "which one; left out: list them" },
  argChoices: { client: CLIENTS.map(({ name }) => name) },
  purpose: "Set up an MCP client, so that it starts holdfast mcp by itself.",
  about:
    "Changes one entry of the client's own file and nothing else in it, and keeps what was there as a backup beside it. Doing it again changes nothing. The scope, --path, --config, --url, --tools, --max-tokens and --read-only are passed on to holdfast mcp; a key is written into the file.",
  options: [
    flag("--project", "in this folder's file, not in your own"),
    flag("--name <name>", "what the entry is called: letters, digits and hyphens").default("holdfast"),
    flag("--tools <groups>", "which tools (default: core; with commas: core, admin, openai, reference)"),
    flag("--max-tokens <n>", "how long an answer may be, from 500 (default: 4000)", wholeNumber),
    flag("--read-only", "only tools that change nothing"),
    flag("--dry-run", "show what would change; writes nothing"),
    flag("--print", "print what to paste, and where; writes nothing"),
    flag("--uninstall", "take the entry away again"),
    flag("--force", "also if the entry of this name is somebody else's"),
  ],
  isScoped: true,
  examples: [
    "holdfast install",
    "holdfast install claude-code --user ada",
    "holdfast install vscode --project --dry-run",
    "holdfast install codex --uninstall",
  ],
  async run(call) {
    const [client] = call.args;
    const machine = machineOf(call.io.env);
    const { name, project = false, uninstall } = call.flags<InstallFlags>();
    requireName(name);
    if (client === undefined) return list(call, machine);
    const wish: Wish = { client: clientNamed(client), name, isProject: project };
    return uninstall ? remove(call, wish, machine) : install(call, wish, machine);
  },
};

/** What every client accepts: Codex knows no other signs, and Gemini CLI is confused by underscores. */
function requireName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(name)) return;
  throw new HoldfastError("invalid_input", "--name takes up to 64 letters, digits and hyphens", {
    hint: "for example --name team-memory",
  });
}

async function install(call: Call, wish: Wish, machine: Machine): Promise<void> {
  const { printer } = call;
  const flags = call.flags<InstallFlags>();
  const { parseScope } = await import("../../input/scope.js");
  parseScope(call.scope); // what is wrong with it is told here, and not by a server that does not start
  const place = await placeFor(flags, machine.env);
  printer.note(...whereParts(scopeText(call.scope), placeText(place)));
  if (flags.maxTokens !== undefined) refuseTooShort(flags.maxTokens);
  const tools = flags.tools === undefined ? {} : { tools: await toolGroups(flags.tools) };
  const launch = launchOf(runningHere(machine.platform));
  const key = place.kind === "server" ? place.key : undefined;
  const passed = argsOf({ ...flags, ...tools }, machine.cwd);
  const entry = {
    command: launch.command,
    args: argsWith(launch, passed),
    ...(key !== undefined && { key }),
    isBare: passed.length === 0 && key === undefined,
  };
  for (const name of unseenVariables(flags, machine.env))
    printer.note(
      styled("yellow", `${name} is set here, but the client will not see it: say --path, --config or --url`),
    );
  if (launch.isByNpx)
    printer.note("it is started by npx, which the client has to find; npm install -g holdfast is surer");
  if (flags.print) return print(call, wish, entry, machine);
  const { installation } = await import("../install/change.js");
  const change = installation(wish, entry, machine, flags.force === true);
  if (change.kept) printer.note(`it keeps what it had: ${change.kept.join(" ")} (--uninstall first to begin anew)`);
  const isWritten = await apply(call, wish, change);
  if (!isWritten) return;
  if (key !== undefined) printer.note(styled("yellow", `the key stands in that file: keep it to yourself`));
  if (wish.isProject) printer.note("it names paths of this machine: think twice before you share it");
  const { next, projectNext = next } = wish.client;
  printer.note(`next: ${wish.isProject ? projectNext : next}`);
}

async function print({ printer }: Call, wish: Wish, entry: Entry, machine: Machine): Promise<void> {
  const { slotOf, snippetOf } = await import("../install/change.js");
  const { file } = slotOf(wish, machine);
  const snippet = snippetOf(wish, entry, machine);
  if (printer.json) return printer.value({ client: wish.client.name, file, snippet });
  await printer.body(snippet);
  printer.note(`put this into ${file}`);
}

async function remove(call: Call, wish: Wish, machine: Machine): Promise<void> {
  const { print: isPrint, force } = call.flags<InstallFlags>();
  if (isPrint) {
    throw new HoldfastError("invalid_input", "--print and --uninstall say two things", { hint: "try --dry-run" });
  }
  const { removal } = await import("../install/change.js");
  if (await apply(call, wish, removal(wish, machine, force === true))) {
    call.printer.note(`next: start ${wish.client.title} again`);
  }
}

/** Whether something was written. */
async function apply(call: Call, { client, name, isProject }: Wish, change: Change): Promise<boolean> {
  const { printer } = call;
  const { dryRun = false, uninstall } = call.flags<InstallFlags>();
  const { action, file, after } = change;
  const told = { client: client.name, file: file.path, action };
  if (dryRun) {
    const { diffOf } = await import("../install/change-diff.js");
    const diff = action === "none" ? "" : diffOf(change);
    if (printer.json) await printer.value({ ...told, dryRun, diff });
    else await printer.body(diff);
    printer.note(action === "none" ? "nothing would change" : "nothing was written");
    return false;
  }
  const modes = { made: isProject ? SHARED : PRIVATE, isSecret: holdsKey(file.text) || holdsKey(after) };
  const { backup, isTightened = false } = action === "none" ? {} : file.replace(after, modes, new Date());
  if (printer.json) await printer.value({ ...told, ...(backup !== undefined && { backup }) });
  else
    await printer.line(
      styled(action === "none" ? "dim" : "green", `${client.title}: `),
      done(action, name, file.path, uninstall),
    );
  if (backup !== undefined) {
    const withKey = holdsKey(file.text) ? ", with the key that stood there" : "";
    printer.note(`what was there is kept in ${backup}${withKey}`);
  }
  if (isTightened) printer.note(`others could open ${file.path}; because of the key only you can now`);
  return action !== "none";
}

/** Of files that are made. */
const PRIVATE = 0o600;
const SHARED = 0o644;

function done(action: Change["action"], name: string, file: string, isUninstall = false): string {
  if (action === "none") return isUninstall ? `${name} is not set up in ${file}` : `already set up in ${file}`;
  const what = { add: "is set up in", change: "is changed in", remove: "is taken out of" }[action];
  return `${name} ${what} ${file}`;
}

const STATES: { readonly [state in EntryState]: Part } = {
  ready: styled("green", "yes"),
  stale: styled("yellow", "yes, but its program is gone: install it again"),
  taken: styled("yellow", "no: the entry of this name is somebody else's"),
  none: "no",
  unreadable: styled("red", "its file cannot be read"),
};

async function list(call: Call, machine: Machine): Promise<void> {
  const { overviewOf } = await import("../install/overview.js");
  const { printer } = call;
  const clients = overviewOf(call.flags<InstallFlags>().name, machine);
  if (printer.json) return printer.value(clients);
  const columns = ["CLIENT", "HERE", "SET UP", "FILE"].map((name) => ({ name }));
  const rows = clients.map(({ name, present, entry, file }) => [name, present ? "yes" : "no", STATES[entry], file]);
  await printer.table(columns, rows);
  printer.note("holdfast install <client> sets one up; --dry-run shows what it would do");
}
