/** Rewords errors of the engine in terms of a command's flags, because users of the command line see no option names. */
import type { Command } from "commander";
import { HoldfastError } from "../errors.js";

/** Options whose flags have other names. */
const RENAMED: { readonly [option: string]: string } = {
  topK: "limit",
  budgetTokens: "budget",
  sortBy: "sort",
  occurredAt: "at",
  expiresAt: "expires",
  validFrom: "since",
};
/** An option in a message: `options.topK`, `messages[0].name`. */
const FIELD = /\b(?:[a-z]\w*(?:\[0\])?\.)+(\w+)\b/g;
/** An option in a hint: `onConflict "skip"`, `merge: true`, an identifier in backticks or in camel case. */
const WITH_WORD = /\b([a-z]\w*) "(\w+)"/g;
const WITH_SWITCH = /\b([a-z]\w*): (true|false)\b/g;
const NAMED = /`([a-z]\w*)`|\b([a-z]+[A-Z]\w*)\b/g;
const SENT_KEY = /\bsend Authorization: Bearer <key>/g;
/** The place of an option that is a flag here. */
const IN_CODE = /^options in code: (?=--)/;
const IN_SCOPE = /name the (user|agent|team|session) in the scope/g;

export function inFlags(error: unknown, command: Command): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details, cause } = error;
  const flags = flagsOf(command);
  const named = message.replace(FIELD, (whole, option: string) => flags.get(option) ?? whole).replace(IN_CODE, "");
  const told = hint && hintInFlags(hint, flags);
  if (named === message && told === hint) return error;
  return new HoldfastError(code, named, { ...(told && { hint: told }), details, cause });
}

function hintInFlags(hint: string, flags: ReadonlyMap<string, string>): string {
  return hint
    .replace(WITH_WORD, (whole, option: string, word: string) =>
      flags.has(option) ? `${flags.get(option)} ${word}` : whole,
    )
    .replace(WITH_SWITCH, (whole, option: string, value: string) => {
      const flag = flags.get(option);
      return flag === undefined ? whole : value === "true" ? flag : flag.replace(/^--/, "--no-");
    })
    .replace(NAMED, (whole, quoted: string | undefined, option: string | undefined) => {
      return flags.get(quoted ?? option ?? "") ?? whole;
    })
    .replace(SENT_KEY, "pass it with --key or HOLDFAST_KEY")
    .replace(IN_SCOPE, "pass --$1 NAME");
}

/** Flags by option: those of the command, then those of the group's `configure`. */
function flagsOf(command: Command): ReadonlyMap<string, string> {
  const configure = command.parent?.commands.find((one) => one.name() === "configure");
  const options = [...(configure?.options ?? []), ...command.options].filter(({ negate }) => !negate);
  const flags = new Map(options.map((option) => [option.attributeName(), option.long ?? ""]));
  for (const [option, name] of Object.entries(RENAMED)) {
    const flag = flags.get(name);
    if (flag !== undefined) flags.set(option, flag);
  }
  return flags;
}
