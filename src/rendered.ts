/**
 * Renders stored text for people and models.
 *
 * Stored text may come from anyone. Control characters move the cursor and erase; direction controls make one text look
 * like another; zero-width characters, fillers and tags hide text. None of them is printed. Joiners, variation
 * selectors and the tags of flags stay where scripts and emoji need them, one at a time. Stored text, and the JSON of
 * the API, is never changed.
 */

/**
 * The flag of a region, which is written with tags; or a run of controls (except tab and line feed) and invisible
 * characters.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{4,6}\u{e007f}|(?:[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point})+/gu;
const FLAG = "\u{1f3f4}";
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** Invisible characters that change how the character before them is written. */
const WRITTEN: readonly (readonly [sign: RegExp, after: RegExp])[] = [
  [/[\u200c\u200d]/, /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u],
  [/[\ufe00-\ufe0f]/, /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Z}]/u],
  [/[\u{e0100}-\u{e01ef}]/u, /\p{Script=Han}/u],
  [/[\u180b-\u180d\u180f]/, /\p{Script=Mongolian}/u],
];
const SELECTING = new RegExp(`^(?:${WRITTEN.map(([sign]) => sign.source).join("|")})`, "u");

/** The text for display: control characters become U+FFFD, other invisible characters are removed. */
export const rendered = (text: string): string => replaced(text, (sign) => (CONTROL.test(sign) ? "\ufffd" : ""));

/** The text with invisible characters escaped: \e[31m, \u202e, \u{e0041}. */
export const escaped = (text: string): string => replaced(text, escapeOf);

/**
 * Escapes JSON text without changing its value: invisible characters occur only in strings, where an escape means the
 * same.
 */
export const escapedJson = (json: string): string => replaced(json, (sign) => sign.split("").map(unitEscape).join(""));

function replaced(text: string, by: (sign: string) => string): string {
  return text.replace(UNSEEN, (run, at: number) => {
    if (run.startsWith(FLAG)) return run;
    let before = SELECTING.test(run) ? [...text.slice(Math.max(0, at - 2), at)].at(-1) : undefined;
    let shown = "";
    for (const sign of run) {
      const isWritten = before !== undefined && isPartOf(before, sign);
      shown += isWritten ? sign : by(sign);
      before = isWritten ? sign : undefined;
    }
    return shown;
  });
}

const isPartOf = (before: string, sign: string): boolean =>
  WRITTEN.some(([unseen, after]) => unseen.test(sign) && after.test(before));

const NAMED: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\t", "\\t"],
  ["\r", "\\r"],
  ["\u001b", "\\e"],
]);

/** One character, escaped. */
export function escapeOf(sign: string): string {
  return NAMED.get(sign) ?? (sign.length === 1 ? unitEscape(sign) : `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
