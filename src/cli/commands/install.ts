/** holdfast install: adds this memory to the configuration of MCP clients, or removes it. */
import { HoldfastError } from "../../errors.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { wholeNumber } from "../flag-values.js";
import type { Change, InstallTarget } from "../install/change.js";
import { CLIENTS, clientNamed } from "../install/client.js";
import { holdsKey, type ServerEntry } from "../install/entry.js";
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
  argHelp: { client: "the client; without it, list all" },
  argChoices: { client: CLIENTS.map(({ name }) => name) },
  purpose: "Configure an MCP client to start holdfast mcp.",
  about:
    "Changes one entry in the client's configuration file and keeps a backup beside it. Running it again changes nothing. The scope, --path, --config, --url, --tools, --max-tokens and --read-only are passed to holdfast mcp; a key is written into the file.",
  options: [
    flag("--project", "use the project's file in this folder instead of your own"),
    flag("--name <name>", "name of the entry: letters, digits and hyphens").default("holdfast"),
    flag("--tools <groups>", "tool groups, separated by commas: core, admin, openai, reference (default: core)"),
    flag("--max-tokens <n>", "limit of an answer, at least 500 (default: 4000)", wholeNumber),
    flag("--read-only", "offer only tools that change nothing"),
    flag("--dry-run", "show the change without writing it"),
    flag("--print", "print what to paste, and where, without writing it"),
    flag("--uninstall", "remove the entry"),
    flag("--force", "replace an entry of this name that is not Holdfast's"),
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
    const target: InstallTarget = { client: clientNamed(client), name, isProject: project };
    return uninstall ? remove(call, target, machine) : install(call, target, machine);
  },
};

/** Accepted by every client: Codex allows no other characters, and Gemini CLI mishandles underscores. */
function requireName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(name)) return;
  throw new HoldfastError("invalid_input", "--name takes up to 64 letters, digits and hyphens", {
    hint: "for example --name team-memory",
  });
}

async function install(call: Call, target: InstallTarget, machine: Machine): Promise<void> {
  const { printer } = call;
  const flags = call.flags<InstallFlags>();
  const { parseScope } = await import("../../input/scope.js");
  parseScope(call.scope); // report errors here, instead of by a server that fails to start
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
      styled("yellow", `${name} is set here, but the client will not see it: pass --path, --config or --url`),
    );
  if (launch.isByNpx)
    printer.note("it runs through npx, which the client has to find; npm install -g holdfast is more reliable");
  if (flags.print) return print(call, target, entry, machine);
  const { installation } = await import("../install/change.js");
  const change = installation(target, entry, machine, flags.force === true);
  if (change.kept) printer.note(`kept its arguments: ${change.kept.join(" ")} (use --uninstall first to start over)`);
  const isWritten = await apply(call, target, change);
  if (!isWritten) return;
  if (key !== undefined) printer.note(styled("yellow", `that file contains the key: do not share it`));
  if (target.isProject) printer.note("it contains paths of this machine: check before you share it");
  const { next, projectNext = next } = target.client;
  printer.note(`next: ${target.isProject ? projectNext : next}`);
}

async function print({ printer }: Call, target: InstallTarget, entry: ServerEntry, machine: Machine): Promise<void> {
  const { slotOf, snippetOf } = await import("../install/change.js");
  const { file } = slotOf(target, machine);
  const snippet = snippetOf(target, entry, machine);
  if (printer.json) return printer.value({ client: target.client.name, file, snippet });
  await printer.body(snippet);
  printer.note(`add this to ${file}`);
}

async function remove(call: Call, target: InstallTarget, machine: Machine): Promise<void> {
  const { print: isPrint, force } = call.flags<InstallFlags>();
  if (isPrint) {
    throw new HoldfastError("invalid_input", "--print and --uninstall exclude each other", { hint: "try --dry-run" });
  }
  const { removal } = await import("../install/change.js");
  if (await apply(call, target, removal(target, machine, force === true))) {
    call.printer.note(`next: restart ${target.client.title}`);
  }
}

/** Returns whether a file was written. */
async function apply(call: Call, { client, name, isProject }: InstallTarget, change: Change): Promise<boolean> {
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
    const withKey = holdsKey(file.text) ? ", including the key" : "";
    printer.note(`the previous version was saved as ${backup}${withKey}`);
  }
  if (isTightened)
    printer.note(`${file.path} was readable by others; now only you can read it, because it contains a key`);
  return action !== "none";
}

/** Mode of new files. */
const PRIVATE = 0o600;
const SHARED = 0o644;

function done(action: Change["action"], name: string, file: string, isUninstall = false): string {
  if (action === "none") return isUninstall ? `${name} is not configured in ${file}` : `already configured in ${file}`;
  const what = { add: "was added to", change: "was changed in", remove: "was removed from" }[action];
  return `${name} ${what} ${file}`;
}

const STATES: { readonly [state in EntryState]: Part } = {
  ready: styled("green", "yes"),
  stale: styled("yellow", "yes, but the program is gone: install again"),
  taken: styled("yellow", "no: another entry has this name"),
  none: "no",
  unreadable: styled("red", "its file cannot be read"),
};

async function list(call: Call, machine: Machine): Promise<void> {
  const { overviewOf } = await import("../install/overview.js");
  const { printer } = call;
  const clients = overviewOf(call.flags<InstallFlags>().name, machine);
  if (printer.json) return printer.value(clients);
  const columns = [{ name: "CLIENT" }, { name: "HERE" }, { name: "SET UP" }, { name: "FILE", isWhole: true }];
  const rows = clients.map(({ name, present, entry, file }) => [name, present ? "yes" : "no", STATES[entry], file]);
  await printer.table(columns, rows);
  printer.note("holdfast install <client> configures one; --dry-run shows the change");
}
