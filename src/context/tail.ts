/**
 * The tail: corrections of the window, facts, recalled text and recent turns, in the room that the prefix leaves.
 *
 * Corrections come first, because a wrong window is worse than an incomplete one. They take at most half of the room,
 * unless the rest is not needed. A changed item that does not fit is withdrawn, and counts as new when it is next
 * recalled; if not even that fits, the correction follows with the next context. Otherwise whole pieces are preferred
 * to cut ones: the best piece is cut only if none fits.
 *
 * The budget applies to the whole window, including what is already in it. So a call gives what it would give to an
 * empty window, minus what is there, and a session does not fill up with less and less relevant text.
 */
import type { ParsedContext } from "../input/context.js";
import { allocate, type Measured, type WeightedPart } from "./allocation.js";
import type { LeftItem } from "./context.js";
import { chooseCorrections, formsOf } from "./corrections.js";
import { cutToFit, firstToCut, type Whole } from "./cut.js";
import { CONVERSATION, PREAMBLE } from "./fence.js";
import { type TailStatement, textOfTail } from "./given.js";
import type { Measure } from "./measure.js";
import { type Piece, saysSomething, textOf } from "./piece.js";
import type { Prefix } from "./prefix.js";
import { joinText } from "./render.js";
import { Said } from "./said.js";
import type { Window } from "./window.js";

export interface Tail {
  readonly text: string;
  /** In the order in which they were chosen. */
  readonly given: readonly TailStatement[];
  readonly left: readonly LeftItem[];
  /** The tokens of what would have been given if it were not in the window. */
  readonly saved: number;
}

export interface TailNeeds {
  readonly asked: Pick<ParsedContext, "budgetTokens" | "shares">;
  readonly prefix: Prefix;
  readonly window: Window;
  readonly measure: Measure;
}

/** The order in which parts get the remaining tokens. */
const PARTS = ["facts", "recall", "turns"] as const;

/** Requires the candidates of each part best first; turns newest first. */
export async function makeTail(candidates: readonly Piece[], needs: TailNeeds): Promise<Tail> {
  const { asked, prefix, window, measure } = needs;
  const wanted = candidates.filter(saysSomething);
  const corrected = new Set(window.corrections.map(({ ref }) => ref));
  const isNew = ({ ref }: Piece): boolean => !window.standing.has(ref) && !corrected.has(ref);
  const measured = await measureAll(wanted, window, measure);
  const forms = await formsOf(window, measure);
  const isFirst = prefix.text === "";
  const opening = isFirst ? `${PREAMBLE}\n` : joinText(prefix.text, "\n");
  const [used = 0, headingTokens = 0] = await measure.each([opening, `${CONVERSATION}\n`]);
  const room = asked.budgetTokens - used;
  const parts = (pieces: readonly Measured[]): readonly WeightedPart[] =>
    PARTS.map((part) => ({
      weight: asked.shares[part],
      pieces: pieces.filter(({ piece }) => piece.part === part),
      headingTokens: part === "turns" ? headingTokens : 0,
    }));

  const urgent = chooseCorrections(forms, room, Math.floor(room / 2));
  const said = new Said(prefix.said, window.said);
  for (const { piece } of urgent) if (piece) said.add(piece);
  const unaided = allocate(parts(measured.filter(({ piece }) => !corrected.has(piece.ref))), room, prefix.said);
  const due = unaided.length > 0 ? new Set(unaided) : new Set(measured);
  const fresh = parts(measured.filter((one) => due.has(one) && isNew(one.piece)));
  const chosen = allocate(fresh, room - sum(urgent), said);
  const others = forms.filter(([form]) => !urgent.some(({ correction }) => correction === form?.correction));
  const given: TailStatement[] = [
    ...urgent,
    ...chosen.map(({ piece, tokens }) => ({ piece, tokens, text: textOf(piece), cut: false })),
    ...chooseCorrections(others, room - sum(urgent) - sum(chosen), Infinity),
  ];

  const text = (more: readonly TailStatement[] = []): string => textOfTail([...given, ...more], wanted, isFirst);
  // Token counts are not additive. What was chosen last is removed first.
  while (given.length > 0 && (await measure.of(joinText(prefix.text, text()))) > asked.budgetTokens) given.pop();
  if (given.every(({ correction }) => correction)) {
    const cut = await cutBest(fresh, said, needs, (one) => joinText(prefix.text, text([one])));
    if (cut) given.push(cut);
  }
  return {
    text: text(),
    given,
    left: leftOver(candidates, given, needs),
    saved: sum(unaided.filter(({ piece }) => window.standing.has(piece.ref))),
  };
}

/** Pieces in the window keep the token counts recorded there. */
async function measureAll(pieces: readonly Piece[], window: Window, measure: Measure): Promise<readonly Measured[]> {
  const unknown = pieces.filter(({ ref }) => !window.standing.has(ref));
  const counts = await measure.each(unknown.map((piece) => `${textOf(piece)}\n`));
  const tokens = new Map(unknown.map((piece, index) => [piece, counts[index] ?? Infinity]));
  return pieces.map((piece) => ({
    piece,
    tokens: tokens.get(piece) ?? window.standing.get(piece.ref)?.tokens ?? Infinity,
  }));
}

/** Cuts the best piece of which anything fits, because none fits whole. */
async function cutBest(
  parts: readonly WeightedPart[],
  said: Said,
  { asked, measure }: TailNeeds,
  whole: (given: TailStatement) => string,
): Promise<TailStatement | undefined> {
  const given = (piece: Piece, text: string): TailStatement => ({
    piece,
    text,
    tokens: 0,
    cut: text !== textOf(piece),
  });
  const wholeWith: Whole = (piece, shown) => whole(given(piece, shown));
  const best = parts
    .flatMap(({ weight, pieces }) => (weight > 0 ? pieces : []))
    .map(({ piece }) => piece)
    .filter((piece) => !said.has(piece));
  const first = await firstToCut(best, asked.budgetTokens, wholeWith, measure);
  const text = first && (await cutToFit(first.piece, asked.budgetTokens, wholeWith, measure));
  if (!first || text === undefined) return undefined;
  return { ...given(first.piece, text), tokens: await measure.of(`${text}\n`) };
}

function leftOver(
  candidates: readonly Piece[],
  given: readonly TailStatement[],
  { prefix, window }: TailNeeds,
): readonly LeftItem[] {
  const tail = new Said();
  for (const { piece } of given) if (piece) tail.add(piece);
  const told = new Set(given.flatMap(({ piece, correction }) => [piece?.ref, correction?.ref]));
  const untold = window.corrections.filter(({ ref }) => !told.has(ref));
  const unsaid = new Set(untold.map(({ ref }) => ref));
  return [
    ...untold.map(({ reference: { kind, id } }) => ({
      part: kind === "fact" || kind === "past" ? ("facts" as const) : ("recall" as const),
      id,
      why: "no room for its correction, which follows with the next context",
    })),
    ...candidates
      .filter(({ ref }) => !told.has(ref) && !unsaid.has(ref))
      .map((piece) => ({ part: piece.part, id: piece.id, why: whyLeft(piece, { prefix, window, tail }) })),
  ];
}

function whyLeft(
  piece: Piece,
  { prefix, window, tail }: Pick<TailNeeds, "prefix" | "window"> & { tail: Said },
): string {
  if (!saysSomething(piece)) return "it is blank";
  const where = Object.entries({ prefix: prefix.said, window: window.said, tail });
  for (const [name, said] of where) {
    const sayer = said.by(piece);
    if (sayer === piece.id) return `it is already in the ${name}`;
    if (sayer !== undefined) return `the ${name} says the same: ${sayer}`;
  }
  return "no room in the budget";
}

const sum = (counted: readonly { readonly tokens: number }[]): number =>
  counted.reduce((total, { tokens }) => total + tokens, 0);
