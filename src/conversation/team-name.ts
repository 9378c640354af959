/**
 * Names of teams and agents, which become names of folders and files. A name that is fit for one file system is fit for
 * all, and reaches nothing but the file it names. Names are normalised (NFC): one name, however it was typed, is one
 * file. Upper and lower case are told apart where the file system does so.
 */
import { invalid, tooLarge, wrongType } from "../input/refusal.js";

/** In UTF-8. File systems take 255 bytes, and a file's name has more to it than the agent's. */
const NAME_BYTES_MAX = 128;
/** Separators, and what Windows does not take; a colon names a stream of a file there. */
const FORBIDDEN = /[/\\:*?"<>|]/;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Windows takes these for devices, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i;

const HINT = "use letters, digits, blanks, - and _";

/** The name, normalised; refused if it cannot be a file's. */
export function parseTeamName(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (!value.isWellFormed()) throw invalid(where, "must not contain half of a surrogate pair", HINT);
  const name = value.normalize("NFC");
  const problem = problemOf(name);
  if (problem) throw invalid(where, problem, HINT);
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw tooLarge(where, `${NAME_BYTES_MAX} bytes`, "use a shorter name, or a hash of the long one");
  }
  return name;
}

function problemOf(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (CONTROL.test(name)) return "must not contain control characters or line breaks";
  if (FORBIDDEN.test(name)) return 'must not contain any of / \\ : * ? " < > |';
  if (name.includes("..")) return "must not contain two dots in a row";
  if (name.startsWith(".") || name.endsWith(".")) return "must not start or end with a dot";
  if (name !== name.trim()) return "must not start or end with a blank";
  if (DEVICE.test(name)) return "is the name of a device on Windows";
  return undefined;
}
