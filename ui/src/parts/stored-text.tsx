/**
 * StoredText: text from memory, which may be hostile. It is always a text node, never markup. Control characters and
 * direction marks are shown by their code, and long texts are cut until the reader asks for more.
 */
import type { SpaceRef } from "holdfast/client";
import { useState } from "preact/hooks";
import { Button } from "./button.js";

/**
 * C0 and C1 controls except tab and line feed, the marks that change the direction of what follows, and the tags, which
 * can spell a text that a model reads and a person does not see.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}])/u;
/** In a name, line breaks and tabs as well. */
const HIDDEN_IN_NAME =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /([\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}])/u;
/** Nothing that one sees. */
const BLANK = /^[\s\u2800\p{Default_Ignorable_Code_Point}]+$/u;
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

/** A name, cut at `max`. Nothing in it can be clicked, so it may stand in a link. */
export function StoredName({ text, max = 80 }: { readonly text: string; readonly max?: number }) {
  const end = text.length <= max ? text.length : safeEnd(text, max);
  return (
    <bdi class="stored">
      {BLANK.test(text) ? (
        <span class="stored-control">{codesOf(text.slice(0, end))}</span>
      ) : (
        visible(text.slice(0, end), HIDDEN_IN_NAME)
      )}
      {end < text.length && "…"}
    </bdi>
  );
}

/** The name of a space, after its kind. */
export function StoredSpace({ space }: { readonly space: SpaceRef }) {
  const [kind, name = ""] = Object.entries(space)[0] ?? [];
  return (
    <>
      {kind} <StoredName text={name} />
    </>
  );
}

/** The text with its hidden characters as codes. */
export function visible(text: string, hidden = HIDDEN) {
  if (!hidden.test(text)) return text;
  return text.split(hidden).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <span key={at} class="stored-control" title="a character that is not shown">
        {codeOf(piece)}
      </span>
    ),
  );
}

/** A name as a string: what a reader sees and can type. */
export const spelled = (text: string): string => (BLANK.test(text) ? codesOf(text) : controlsSpelled(text));

const controlsSpelled = (text: string): string =>
  text
    .split(HIDDEN_IN_NAME)
    .map((piece, at) => (at % 2 === 0 ? piece : codeOf(piece)))
    .join("");

/** The beginning of a text in one line, where only plain text may stand. */
export function plainText(text: string, max: number): string {
  const line = text.slice(0, safeEnd(text, Math.min(max, text.length))).replaceAll(/\s+/g, " ");
  return `${controlsSpelled(line)}${text.length > max ? "…" : ""}`;
}

const codesOf = (text: string): string => Array.from(text, codeOf).join(" ");
const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;

/** Never between the halves of a surrogate pair. */
const safeEnd = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at);
