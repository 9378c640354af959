/** Parses a fact line. Spans must be in order, and the last one is open exactly if the fact holds. */

import { parseText } from "../input/content.js";
import { parseIdentity } from "../input/identity.js";
import { parseInstant } from "../input/instant.js";
import { type Fields, invalid, objectWith, parseChoice, wrongType } from "../input/refusal.js";
import { parseSpace } from "../input/scope.js";
import { FACT_STATES, type FactSource, type FactSpan, type FactState, type RestoreFactWrite } from "../stores/facts.js";
import { named } from "./named.js";

export interface FactInput extends Omit<RestoreFactWrite, "op"> {
  readonly type: "fact";
}

const KEYS: ReadonlySet<string> = new Set(
  "type space id category content confidence pinned state spans sources agent expiresAt recordedAt".split(" "),
);
const SPAN_KEYS: ReadonlySet<string> = new Set(["from", "to"]);
const SOURCE_KEYS: ReadonlySet<string> = new Set(["session", "message"]);

export function parseFactLine(value: Fields): FactInput {
  const fields = objectWith(value, KEYS, "the line");
  const { confidence, pinned, expiresAt } = fields;
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
    throw invalid("confidence", "must be a number from 0 to 1");
  }
  if (typeof pinned !== "boolean") throw wrongType("pinned", "true or false", pinned);
  const state = parseChoice(fields["state"], FACT_STATES, "state");
  return {
    type: "fact",
    space: parseSpace(fields["space"]),
    id: parseIdentity(fields["id"], "id"),
    category: textOf(fields, "category"),
    content: textOf(fields, "content"),
    ...{ confidence, pinned, state },
    spans: parseSpans(fields["spans"], state),
    sources: parseSources(fields["sources"]),
    ...named("agent", fields["agent"]),
    ...(expiresAt !== undefined && { expiresAt: parseInstant(expiresAt, "expiresAt") }),
  };
}

function textOf(fields: Fields, key: string): string {
  const text = fields[key];
  if (typeof text !== "string") throw wrongType(key, "a string", text);
  if (text.trim() === "") throw invalid(key, "must not be empty");
  return parseText(text, key);
}

function parseSpans(value: unknown, state: FactState): readonly FactSpan[] {
  if (!Array.isArray(value)) throw wrongType("spans", "a list", value);
  const spans = value.map((span: unknown, at) => parseSpan(span, `spans[${at}]`));
  const last = spans.length - 1;
  const isSound = spans.every(({ from, to }, at) => {
    const isAfter = from >= (spans[at - 1]?.to ?? -Infinity);
    return isAfter && (to === undefined ? at === last && state === "holds" : from < to);
  });
  const isOpen = spans.length > 0 && spans[last]?.to === undefined;
  if (isSound && isOpen === (state === "holds")) return spans;
  throw invalid(
    "spans",
    "must be non-empty, in order and without overlap; the last one is open only if the fact holds",
  );
}

function parseSpan(value: unknown, where: string): FactSpan {
  const { from, to } = objectWith(value, SPAN_KEYS, where);
  return {
    from: parseInstant(from, `${where}.from`),
    ...(to !== undefined && { to: parseInstant(to, `${where}.to`) }),
  };
}

function parseSources(value: unknown): readonly FactSource[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid("sources", "must be a list of at least one source");
  return value.map((source: unknown, at) => {
    const { session, message } = objectWith(source, SOURCE_KEYS, `sources[${at}]`);
    return { ...named("session", session), ...named("message", message) };
  });
}
