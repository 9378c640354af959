/** Asks for confirmation before something is forgotten. Without a terminal, --yes is required. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Option } from "commander";
import { HoldfastError } from "../errors.js";
import type { Call } from "./call.js";

export const yesFlag = (): Option => new Option("-y, --yes", "do not ask first");

/** Requires a command with the flag above. Returns whether to go on. `what` starts with a verb. */
export async function confirm(call: Call, what: string): Promise<boolean> {
  if (call.flags<{ yes?: boolean }>().yes) return true;
  const { stdin, stderr, signal } = call.io;
  if (!stdin.isTTY || !stderr.isTTY) {
    throw new HoldfastError("invalid_input", `not confirmed: ${what}`, {
      hint: "no terminal to confirm on; pass --yes; this cannot be undone",
    });
  }
  // Not in terminal mode, so that Ctrl-C stays a signal and ends the command.
  const reader = createInterface({ input: stdin, output: stderr, terminal: false });
  const closed = once(reader, "close").then(() => ""); // end of input counts as no
  try {
    const asked = reader.question(`${call.printer.question(`Really ${what}? This cannot be undone. [y/N]`)} `, {
      signal,
    });
    if (/^y(es)?$/i.test((await Promise.race([asked, closed])).trim())) return true;
  } finally {
    reader.close();
  }
  call.printer.note("nothing was done");
  return false;
}
