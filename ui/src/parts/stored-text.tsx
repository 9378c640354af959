/**
 * StoredText: text from memory, which may be hostile. It is always a text node, never markup. Control characters and
 * direction marks are shown by their code, and long texts are cut until the reader asks for more.
 */
import { useState } from "preact/hooks";
import { Button } from "./button.js";

/** C0 and C1 controls except tab and line feed, and the marks that change the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff])/;
const UNITS_MAX = 4_000;
const STEP = 50_000;

export function StoredText({ text, max = UNITS_MAX }: { readonly text: string; readonly max?: number }) {
  const [shown, setShown] = useState(max);
  const end = text.length <= shown ? text.length : safeEnd(text, shown);
  return (
    <>
      <span class="stored" dir="auto">
        {visible(text.slice(0, end))}
        {end < text.length && "…"}
      </span>
      {end < text.length && (
        <Button kind="quiet" small onClick={() => setShown(shown + STEP)}>
          Show more ({(text.length - end).toLocaleString("en")} characters left)
        </Button>
      )}
    </>
  );
}

/** The text with its hidden characters as codes. */
export function visible(text: string) {
  if (!HIDDEN.test(text)) return text;
  return text.split(HIDDEN).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <span key={at} class="stored-control" title="a character that is not shown">
        {codeOf(piece)}
      </span>
    ),
  );
}

/** The same as a string: what a reader sees and can type. */
export const spelled = (text: string): string =>
  text
    .split(HIDDEN)
    .map((piece, at) => (at % 2 === 0 ? piece : codeOf(piece)))
    .join("");

/** The beginning of a text in one line, where only plain text may stand. */
export function plainText(text: string, max: number): string {
  const line = text.slice(0, safeEnd(text, Math.min(max, text.length))).replaceAll(/\s+/g, " ");
  return `${spelled(line)}${text.length > max ? "…" : ""}`;
}

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Never between the halves of a surrogate pair. */
const safeEnd = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at);
