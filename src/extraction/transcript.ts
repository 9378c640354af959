/**
 * Messages and known facts as data for a model that cannot be mistaken for anything else.
 *
 * Each is one line of JSON between two tags. A line contains no `<`, no line break and no invisible character; they are
 * escaped. So nothing in it can close the fence, open another, start a line of its own, or be one of the tokens with
 * which servers separate the turns of a chat. Parsed, a line gives exactly the original text.
 *
 * Bounded: a long text is cut, and its line says by how much. A page of messages has a limited number of characters,
 * and so have the known facts.
 */
import { leading } from "../graphemes.js";
import { escapedJson } from "../rendered.js";
import type { ExtractionMessage, KnownFact } from "./extractor.js";

/** Of one message's text. Facts about people rarely occur at the end of a pasted file. */
export const MESSAGE_UNITS_MAX = 4_000;
/** Of the lines of one page: about 6,000 tokens, which leaves small models room for their answer. */
export const PAGE_UNITS_MAX = 24_000;
/** Of one known fact's text, and of the lines of all known facts. */
const FACT_UNITS_MAX = 500;
export const KNOWN_UNITS_MAX = 8_000;

/** The first messages, as many as fit in one request; at least one if there is any. */
export function pageOf(messages: readonly ExtractionMessage[]): readonly ExtractionMessage[] {
  let units = 0;
  const next = messages.findIndex((message, index) => {
    units += messageLine(message).length + 1;
    return units > PAGE_UNITS_MAX && index > 0;
  });
  return next < 0 ? messages : messages.slice(0, next);
}

/** The known facts for one request: in order, skipping those that do not fit. */
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

function line(fields: { readonly [key: string]: string | number }): string {
  return escapedJson(JSON.stringify(fields)).replaceAll("<", "\\u003c");
}
