/**
 * Names of teams and agents, which become names of folders and files. A valid name is valid on every file system and reaches
 * only the file that it names. Names are normalised (NFC), so that one name is one file however it was typed. Case is
 * significant where the file system's is.
 */
import { invalid, tooLarge, wrongType } from "../../input/refusal.js";

/** In UTF-8. File systems allow 255 bytes, and a file name contains more than the agent's name. */
const NAME_BYTES_MAX = 128;
/** Separators, and characters that Windows refuses; there a colon names a stream of a file. */
const FORBIDDEN = /[/\\:*?"<>|]/;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i;

const HINT = "use letters, digits, spaces, - and _";

/** The normalised name. Throws if it cannot be a file name. */
export function parseTeamName(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (!value.isWellFormed()) throw invalid(where, "must not contain a lone surrogate", HINT);
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
  if (name !== name.trim()) return "must not start or end with a space";
  if (DEVICE.test(name)) return "is the name of a device on Windows";
  return undefined;
}
