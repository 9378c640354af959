/** Pieces: the things a context is made of, each as the window would show it. */
import { createHash } from "node:crypto";
import type { ContextPart } from "../input/context.js";
import type { Block } from "../stores/blocks.js";
import type { Fact, FactSpan } from "../stores/facts.js";
import type { Item, Role, SpaceRef } from "../types.js";
import { heading, indented, inline, quoted } from "./fence.js";
import { type NamedKind, type Reference, refOf, sameSpace } from "./reference.js";

export interface Piece {
  readonly part: ContextPart;
  readonly kind: NamedKind | "block";
  readonly id: string;
  readonly space: SpaceRef;
  readonly version: number;
  readonly ref: string;
  /** A number of what is shown of it: another one as soon as that changes, and not before. */
  readonly state: number;
  /** Our own words before it, and what was remembered. */
  readonly head: string;
  readonly body: string;
  /** What it says, in a form in which the same text is the same. */
  readonly keys: readonly string[];
}

/** False: nothing that could be read. */
export const saysSomething = ({ body }: Piece): boolean => body.trim() !== "";

export const textOf = ({ head, body }: Pick<Piece, "head" | "body">): string => head + body;

const SPEAKERS: { readonly [role in Role]: string } = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
};
/**
 * UUIDs and the ids of facts are long and random: their last characters are enough to tell them apart in a window, and
 * cost 15 to 30 tokens less.
 */
const MADE_ID = /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|fact-[\w-]{43})$/i;
const MADE_ID_SHOWN = 8;
const ID_MAX = 512;
const DESCRIPTION_MAX = 120;
const KEY_UNITS_MAX = 20_000;

export function blockPiece(block: Block, own: SpaceRef): Piece {
  const { id, space, version, name, description, content } = block;
  const words = [
    `block ${inline(name)}`,
    ...spaceWords(space, own),
    ...(description ? [inline(description, DESCRIPTION_MAX)] : []),
  ];
  const body = quoted(content);
  const ref = `block ${refOf({ kind: "knowledge", space, id })}`; // in no ledger; only to tell it from the others
  return {
    part: "blocks",
    kind: "block",
    id,
    space,
    version,
    ref,
    state: 0,
    head: heading(...words),
    body,
    keys: blockKeys(content),
  };
}

/** What a block says, as a whole and line by line, so that a fact that stands in it is not given again. */
export const blockKeys = (content: string): readonly string[] => [
  ...new Set([content, ...content.split(/[\n\r]+/).filter((line) => line.trim() !== "")].map(textKey)),
];

/** As it holds now, or as it held at `asOf`. */
export function factPiece(fact: Fact, own: SpaceRef, asOf?: number): Piece {
  const { id, space, version, category, content } = fact;
  const span = spanOf(fact, asOf);
  const isPast = span?.to !== undefined;
  const reference: Reference = { kind: isPast ? "past" : "fact", space, id };
  const dates = span ? [isPast ? `${day(span.from)} to ${day(span.to ?? span.from)}` : `since ${day(span.from)}`] : [];
  // A fact's text never changes. What held in the past is not changed by what comes later.
  const state = stateOf([category, content, ...(isPast ? [] : dates)]);
  const words = [label(reference), inline(category), ...dates, ...spaceWords(space, own)];
  return {
    part: "facts",
    ...reference,
    version,
    ref: refOf(reference),
    state,
    head: heading(...words),
    body: quoted(content),
    keys: [textKey(content)],
  };
}

/** The span that holds at a time; the last one if there is no time, or none that does. */
function spanOf({ spans }: Fact, asOf: number | undefined): FactSpan | undefined {
  const then = asOf === undefined ? undefined : spans.find(({ from, to = Infinity }) => from <= asOf && asOf < to);
  return then ?? spans.at(-1);
}

export function itemPiece(item: Item, own: SpaceRef): Piece {
  const { kind, id, space, version, role, name, occurredAt, content } = item;
  const speaker = [role, name === undefined ? undefined : inline(name)].filter((word) => word !== undefined).join(" ");
  const words = [label({ kind, id }), ...(speaker ? [speaker] : []), day(occurredAt), ...spaceWords(space, own)];
  return {
    part: "recall",
    kind,
    id,
    space,
    version,
    ref: refOf({ kind, space, id }),
    state: stateOf([content, role, name, day(occurredAt)]),
    head: heading(...words),
    body: quoted(content),
    keys: [textKey(content)],
  };
}

/** A message as a line of the conversation. The same thing as when it is recalled, in another form. */
export function turnPiece(item: Item, own: SpaceRef): Piece {
  const { role = "user", name, content } = item;
  const speaker = name === undefined ? SPEAKERS[role] : `${SPEAKERS[role]} ${inline(name)}`;
  return { ...itemPiece(item, own), part: "turns", head: `${speaker}: `, body: indented(content) };
}

/** The same, with a word about the earlier text that it replaces. */
export const asReplacement = (piece: Piece): Piece => ({
  ...piece,
  head: piece.head.replace(/\]\n> $/, " replaces its earlier text]\n> "),
});

export const goneLine = (reference: Reference): string => `[${label(reference)} no longer holds: disregard it]`;
export const staleLine = (reference: Reference): string =>
  `[${label(reference)} has changed: disregard its earlier text]`;

const label = ({ kind, id }: Pick<Reference, "kind" | "id">): string =>
  `${kind === "past" ? "past fact" : kind} ${shortId(id)}`;

const shortId = (id: string): string => (MADE_ID.test(id) ? id.slice(-MADE_ID_SHOWN) : inline(id, ID_MAX));

function spaceWords(space: SpaceRef, own: SpaceRef): readonly string[] {
  if (sameSpace(space, own)) return [];
  return Object.entries(space).map(([kind, name]) => `${kind} ${inline(name)}`);
}

/** In UTC, so that it is the same everywhere. */
const day = (ms: number): string => new Date(ms).toISOString().replace(/T.*/, "");

/** The word before it keeps a text from passing for a reference. Very long texts are the same only to the letter. */
function textKey(text: string): string {
  if (text.length > KEY_UNITS_MAX) return `text ${text}`;
  return `text ${text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim()}`;
}

function stateOf(shown: readonly unknown[]): number {
  return createHash("sha256").update(JSON.stringify(shown)).digest().readUIntBE(0, 6);
}
