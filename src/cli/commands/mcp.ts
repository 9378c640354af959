/** holdfast mcp: an MCP server on stdin and stdout, for the one client that starts it. */
import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../errors.js";
import { ANSWER_TOKENS } from "../../mcp/limits.js";
import type { Scope } from "../../types.js";
import { type Definition, flag } from "../definition.js";
import { wholeNumber } from "../flag-values.js";
import { refuseTooShort } from "../install/passed-on.js";
import { type OpenedMemory, openMemoryAt } from "../opened-memory.js";
import { styled } from "../output/style.js";
import { type Place, placeText } from "../place.js";
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
    "MCP clients start this command; `holdfast install` configures them. Any number of them may share one file. These flags set the scope; the model cannot change it. Without --session each run is its own session. With --url it forwards everything to a running server, which then holds the only copy of the embedding model.",
  options: [
    flag("--tools <groups>", "tool groups, separated by commas: core, admin, openai, reference (default: core)"),
    flag("--max-tokens <n>", "limit of an answer, at least 500 (default: 4000)", wholeNumber),
    flag("--read-only", "offer only tools that change nothing"),
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
    const place = await call.place();
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
    if (io.stdin.isTTY)
      printer.note("This is meant to be started by an MCP client; `holdfast install` configures one. Ctrl-C ends it.");
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
      await (await opening?.catch(() => undefined))?.close(); // the caller has already received the error
    }
  },
};

/** Reports configuration errors to the user at the start, because a model could not fix them. */
async function refuseWrongSetUp(scope: Scope, place: Place): Promise<void> {
  const { parseScope } = await import("../../input/scope.js");
  parseScope(scope);
  if (place.kind === "server" && !URL.canParse(place.url)) {
    throw new HoldfastError("invalid_input", "--url is not a URL", {
      hint: "for example --url http://127.0.0.1:8000",
    });
  }
}

/** Each run is a session. Its name is the start time, short because models read it. */
function sessionName(now: Date): string {
  return `mcp-${now.toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
}

const requires =
  (may: (access: string) => boolean) =>
  (access: string): void => {
    if (may(access)) return;
    throw new HoldfastError("forbidden", `this memory is read-only; it does not allow ${access}`, {
      hint: "tell the user: the server was started with --read-only",
    });
  };

/** Only our own messages are shown; others may quote stored text. */
const messageOf = (error: unknown): string => (error instanceof HoldfastError ? error.message : "unexpected failure");
