/** holdfast mcp: the memory as an MCP server on stdin and stdout, for one client that starts it. */
import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../errors.js";
import { ANSWER_TOKENS } from "../../mcp/limits.js";
import type { Scope } from "../../types.js";
import { type Definition, flag } from "../definition.js";
import { wholeNumber } from "../flag-values.js";
import { refuseTooShort } from "../install/passed-on.js";
import { type OpenedMemory, openMemoryAt } from "../opened-memory.js";
import { styled } from "../output/style.js";
import { type Place, placeOf, placeText } from "../place.js";
import { scopeText, whereParts } from "../scope-flags.js";

interface McpFlags {
  readonly tools?: string;
  readonly maxTokens?: number;
  readonly readOnly?: boolean;
}

export const mcpCommand: Definition = {
  name: "mcp",
  purpose: "Serve a memory to one MCP client, over stdin and stdout.",
  about:
    "Clients start it by themselves: `holdfast install` sets them up. Any number of them may work on one file. Whose memory it is stands here and is not the model's to choose; without --session each run is a session of its own. With --url it passes everything on to a running server, which then has the only copy of the embedding model.",
  options: [
    flag("--tools <groups>", "which tools (default: core; with commas: core, admin, openai, reference)"),
    flag("--max-tokens <n>", "how long an answer may be, from 500 (default: 4000)", wholeNumber),
    flag("--read-only", "only tools that change nothing"),
  ],
  isScoped: true,
  endsByInterrupt: true,
  examples: ["holdfast mcp --user ada", "holdfast mcp --team docs --tools core,admin"],
  async run(call) {
    const { io, printer } = call;
    const { tools, maxTokens = ANSWER_TOKENS, readOnly = false } = call.flags<McpFlags>();
    refuseTooShort(maxTokens);
    const { groupsOf } = await import("../../mcp/groups.js");
    const { serveOverStdio } = await import("../../mcp/stdio.js");
    const groups = groupsOf(tools);
    const scope = { session: sessionName(new Date()), ...call.scope };
    const place = await placeOf(call.flags(), io.env);
    await refuseWrongSetUp(scope, place);
    const may = (access: string): boolean => access === "read" || !readOnly;
    let opening: Promise<OpenedMemory> | undefined;
    const open = async () => {
      opening ??= openMemoryAt(place, { meaning: true, create: true, resting: true });
      const { handle } = await opening.catch((error: unknown) => {
        opening = undefined; // the next call tries again
        throw error;
      });
      return { session: handle.session(scope), memory: handle, maxTokens, may, require: requires(may) };
    };
    printer.note(...whereParts(scopeText(scope), placeText(place)));
    if (io.stdin.isTTY) printer.note("A client should start this. `holdfast install` sets one up; Ctrl-C ends it.");
    try {
      await serveOverStdio({
        groups,
        may,
        open,
        stdin: io.stdin,
        stdout: io.stdout,
        signal: io.signal,
        failed: (what, error) => printer.note(styled("yellow", `${what}: ${messageOf(error)}`)),
      });
    } finally {
      await (await opening?.catch(() => undefined))?.close(); // who asked was told that it could not be opened
    }
  },
};

/** What is wrong here is told to whoever starts it: a model could not mend it. */
async function refuseWrongSetUp(scope: Scope, place: Place): Promise<void> {
  const { parseScope } = await import("../../input/scope.js");
  parseScope(scope);
  if (place.kind === "server" && !URL.canParse(place.url)) {
    throw new HoldfastError("invalid_input", "--url is no address", {
      hint: "for example --url http://127.0.0.1:8000",
    });
  }
}

/** Each run is a conversation; its name says when, and is short because models read it. */
function sessionName(now: Date): string {
  return `mcp-${now.toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
}

const requires =
  (may: (access: string) => boolean) =>
  (access: string): void => {
    if (may(access)) return;
    throw new HoldfastError("forbidden", `this memory was opened for reading only, not to ${access}`, {
      hint: "tell the user; it is started with --read-only",
    });
  };

/** Of ours the text says it; others may quote what they failed on. */
const messageOf = (error: unknown): string => (error instanceof HoldfastError ? error.message : "unexpected failure");
