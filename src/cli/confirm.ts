/** Asks before something is forgotten for good. Where nobody can answer, --yes has to say so. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Option } from "commander";
import { HoldfastError } from "../errors.js";
import type { Call } from "./call.js";
import { printableLine } from "./output/printable.js";

export const yesFlag = (): Option => new Option("-y, --yes", "do not ask first");

/** Requires that the command has the flag above. Throws if the answer is not yes. `what` begins with a verb. */
export async function confirm(call: Call, what: string): Promise<void> {
  if (call.flags<{ yes?: boolean }>().yes) return;
  const { stdin, stderr, signal } = call.io;
  if (!stdin.isTTY || !stderr.isTTY) {
    throw new HoldfastError("invalid_input", `not confirmed: ${what}`, {
      hint: "nobody is there to ask: say --yes; it cannot be undone",
    });
  }
  // Not as a terminal: then Ctrl-C stays a signal, and ends the command as it does everywhere.
  const reader = createInterface({ input: stdin, output: stderr, terminal: false });
  const closed = once(reader, "close").then(() => ""); // the end of the input is no yes
  try {
    const asked = reader.question(`Really ${printableLine(what)}? It cannot be undone. [y/N] `, { signal });
    if (/^y(es)?$/i.test((await Promise.race([asked, closed])).trim())) return;
  } finally {
    reader.close();
  }
  throw new HoldfastError("invalid_input", "nothing was forgotten", { hint: "answer y to go on" });
}
