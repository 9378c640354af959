/**
 * Messages and known facts as a model gets to read them: data that cannot pass for anything else.
 *
 * Each is one line of JSON between two tags. A line holds no `<` and no line break, whatever was said: both are written as
 * escapes. So nothing in it can close the fence, open another, start a line of its own, or be one of the marks with which
 * servers part the turns of a chat. Parsed, a line says exactly what was said.
 *
 * Bounded: a long text is cut, and its line says by how much; a page of messages has a number of characters, and so have
 * the known facts.
 */
import { leading } from "../graphemes.js";
import type { ExtractionMessage, KnownFact } from "./extractor.js";

/** Of one message's text. Facts about people rarely stand at the end of a pasted file. */
export const MESSAGE_UNITS_MAX = 4_000;
/** Of the lines of one page: some 6,000 tokens, which leaves small models room for their answer. */
export const PAGE_UNITS_MAX = 24_000;
/** Of one known fact's text, and of the lines of all of them. */
export const FACT_UNITS_MAX = 500;
export const KNOWN_UNITS_MAX = 8_000;

/** The first messages, as many as one request takes, and at least one if there is any. */
export function pageOf(messages: readonly ExtractionMessage[]): readonly ExtractionMessage[] {
  let units = 0;
  const next = messages.findIndex((message, index) => {
    units += messageLine(message).length + 1;
    return units > PAGE_UNITS_MAX && index > 0;
  });
  return next < 0 ? messages : messages.slice(0, next);
}

/** The known facts that one request takes: the first ones, and of the rest those that still fit. */
export function knownOf(known: readonly KnownFact[]): readonly KnownFact[] {
  let left = KNOWN_UNITS_MAX;
  return known.filter((fact) => {
    const units = knownLine(fact).length + 1;
    if (units > left) return false;
    left -= units;
    return true;
  });
}

export function messageLine({ id, role, name, content, occurredAt }: ExtractionMessage): string {
  const at = new Date(occurredAt).toISOString();
  return line({ id, role, ...(name !== undefined && { name }), at, ...textOf(content, MESSAGE_UNITS_MAX) });
}

export function knownLine({ id, category, content }: KnownFact): string {
  return line({ id, category, ...textOf(content, FACT_UNITS_MAX) });
}

export function fenced(tag: string, lines: readonly string[]): string {
  return [`<${tag}>`, ...lines, `</${tag}>`].join("\n");
}

function textOf(content: string, unitsMax: number): { readonly text: string; readonly charactersLeftOut?: number } {
  if (content.length <= unitsMax) return { text: content.toWellFormed() };
  const head = leading(content, unitsMax);
  return { text: `${head.toWellFormed()} […]`, charactersLeftOut: content.length - head.length };
}

/** JSON escapes line feeds by itself, but not the two separators that some readers take for line breaks. */
function line(fields: { readonly [key: string]: string | number }): string {
  return JSON.stringify(fields).replace(
    /[<\u0085\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
