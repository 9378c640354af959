/**
 * The command line and the environment as bytes. Node replaces bytes that are not UTF-8 by U+FFFD, so two users or two files
 * could become one. Linux has the bytes in /proc, unless the process changed its title; where they are unavailable, U+FFFD
 * itself is refused.
 */
import { readFileSync } from "node:fs";
import { HoldfastError } from "../errors.js";
import type { Environment } from "./io.js";

const REPLACEMENT = "\uFFFD";
const PREFIX = "HOLDFAST_";

/** The NUL-terminated strings of a file in /proc/self; undefined if there is none. */
export type RawStrings = (name: "cmdline" | "environ") => readonly Buffer[] | undefined;

/** Throws `invalid_input` if an argument, or a variable of ours, is not UTF-8. */
export function checkArguments(argv: readonly string[], env: Environment, rawStrings: RawStrings = fromProc): void {
  if (argv.some((arg) => arg.includes(REPLACEMENT))) {
    const raw = rawStrings("cmdline")?.slice(-argv.length);
    for (const [at, arg] of argv.entries()) {
      if (arg.includes(REPLACEMENT) && !raw?.[at]?.equals(Buffer.from(arg))) throw notUtf8(`argument ${at + 1}`);
    }
  }
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || !value?.includes(REPLACEMENT)) continue;
    const text = Buffer.from(`${name}=${value}`);
    if (!rawStrings("environ")?.some((raw) => raw.equals(text))) throw notUtf8(`the environment variable ${name}`);
  }
}

function fromProc(name: string): readonly Buffer[] | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(`/proc/self/${name}`);
  } catch {
    return undefined; // no /proc on this system
  }
  const strings: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    strings.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return strings;
}

const notUtf8 = (what: string): HoldfastError =>
  new HoldfastError("invalid_input", `${what} is not text in UTF-8`, {
    hint: "the terminal or script uses another encoding; convert it, for example with iconv -t UTF-8",
  });
