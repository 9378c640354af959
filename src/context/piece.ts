/** Pieces: the elements of a context, each in the form in which the window shows it. */
import { createHash } from "node:crypto";
import type { ContextPart } from "../input/context.js";
import type { Block } from "../stores/blocks.js";
import type { Fact, FactSpan } from "../stores/facts.js";
import type { Item, Role, SpaceRef } from "../types.js";
import { heading, INLINE_MAX, indented, inline, quoted } from "./fence.js";
import { type NamedKind, type Reference, refOf, sameSpace } from "./reference.js";

export interface Piece {
  readonly part: ContextPart;
  readonly kind: NamedKind | "block";
  readonly id: string;
  readonly space: SpaceRef;
  readonly version: number;
  readonly ref: string;
  /** A hash of what is shown; it changes if and only if that changes. */
  readonly state: number;
  /** Our own words before it, and the remembered text. */
  readonly head: string;
  readonly body: string;
  /** The text in normalised form, for finding duplicates. */
  readonly keys: readonly string[];
}

/** False if there is no text to read. */
export const saysSomething = ({ body }: Piece): boolean => body.trim() !== "";

export const textOf = ({ head, body }: Pick<Piece, "head" | "body">): string => head + body;

const SPEAKERS: { readonly [role in Role]: string } = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
};
/**
 * UUIDs and ids of facts are long and random. Their last characters suffice to distinguish them in a window, and save
 * 15 to 30 tokens.
 */
const MADE_ID = /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|fact-[\w-]{43})$/i;
const MADE_ID_SHOWN = 8;
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
  const ref = `block ${refOf({ kind: "knowledge", space, id })}`; // blocks are not in the ledger; this only makes the reference unique
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

/** The text of a block as a whole and line by line, so that a fact contained in it is not given again. */
export const blockKeys = (content: string): readonly string[] => [
  ...new Set([content, ...content.split(/[\n\r]+/).filter((line) => line.trim() !== "")].map(textKey)),
];

/** The fact as it holds now, or as it held at `asOf`. */
export function factPiece(fact: Fact, own: SpaceRef, asOf?: number): Piece {
  const { id, space, version, category, content } = fact;
  const span = spanOf(fact, asOf);
  const isPast = span?.to !== undefined;
  const reference: Reference = { kind: isPast ? "past" : "fact", space, id };
  const dates = span ? [isPast ? `${day(span.from)} to ${day(span.to ?? span.from)}` : `since ${day(span.from)}`] : [];
  // A fact's text never changes, and later events do not change what held in the past.
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

/** The span that contains a time; the last span if there is no time, or no such span. */
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

/** A message as a line of the conversation: the same item as when it is recalled, in another form. */
export function turnPiece(item: Item, own: SpaceRef): Piece {
  const { role = "user", name, content } = item;
  const speaker = name === undefined ? SPEAKERS[role] : `${SPEAKERS[role]} ${inline(name)}`;
  return { ...itemPiece(item, own), part: "turns", head: `${speaker}: `, body: indented(content) };
}

/** The same piece, with a note that it replaces the earlier text. */
export const asReplacement = (piece: Piece): Piece => ({
  ...piece,
  head: piece.head.replace(/\]\n> $/, " replaces its earlier text]\n> "),
});

export const goneLine = (reference: Reference): string => `[${label(reference)} no longer holds: disregard it]`;
export const staleLine = (reference: Reference): string =>
  `[${label(reference)} has changed: disregard its earlier text]`;

const label = ({ kind, id }: Pick<Reference, "kind" | "id">): string =>
  `${kind === "past" ? "past fact" : kind} ${shortId(id)}`;

/** A long id that a caller chose is shown as a hash: cut off, it could be mistaken for another id. */
function shortId(id: string): string {
  if (isMadeId(id)) return id.slice(-MADE_ID_SHOWN);
  return id.length <= INLINE_MAX ? inline(id) : stateOf([id]).toString(36);
}

/** False if a caller chose the id. */
export const isMadeId = (id: string): boolean => MADE_ID.test(id);

function spaceWords(space: SpaceRef, own: SpaceRef): readonly string[] {
  if (sameSpace(space, own)) return [];
  return Object.entries(space).map(([kind, name]) => `${kind} ${inline(name)}`);
}

/** In UTC, so that it is the same on every machine. */
const day = (ms: number): string => new Date(ms).toISOString().replace(/T.*/, "");

/** The prefix `text` distinguishes a text from a reference. Very long texts are compared literally. */
function textKey(text: string): string {
  if (text.length > KEY_UNITS_MAX) return `text ${text}`;
  return `text ${text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim()}`;
}

function stateOf(shown: readonly unknown[]): number {
  return createHash("sha256").update(JSON.stringify(shown)).digest().readUIntBE(0, 6);
}
