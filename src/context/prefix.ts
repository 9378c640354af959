/**
 * The prefix: blocks and pinned facts, in a fixed order.
 *
 * It depends only on their content, their order, the budget, the shares and the counter. It does not depend on the
 * clock, the question, the turn or what was found, so it stays the same, byte for byte, until one of them changes. Its
 * room is a fixed part of the budget, whatever the tail needs. Blocks and facts that fit are included whole; the first
 * that does not fit is cut, if there is room for more than a few words of it. If nothing fits, one grapheme may exceed
 * the prefix's part, but not the budget, so the prefix is never empty while there is something to say.
 */
import type { ParsedContext } from "../input/context.js";
import { allocate, type Measured, type WeightedPart } from "./allocation.js";
import type { LeftItem } from "./context.js";
import { cutToFit, firstToCut, type Whole } from "./cut.js";
import { CUT, PREAMBLE, unquoted } from "./fence.js";
import type { Measure } from "./measure.js";
import { blockKeys, type Piece, saysSomething, textOf } from "./piece.js";
import { Said } from "./said.js";

/** The tokens that the prefix may have in general, and the tokens of the whole budget. */
interface Room {
  readonly own: number;
  readonly all: number;
}

type PrefixOptions = Pick<ParsedContext, "budgetTokens" | "shares">;

export interface Prefix {
  readonly text: string;
  readonly said: Said;
  readonly left: readonly LeftItem[];
}

/** A shorter cut says too little for the cost of its heading. */
const CUT_TOKENS_MIN = 32;

/** Requires pieces in order: blocks, then pinned facts. */
export async function makePrefix(pieces: readonly Piece[], asked: PrefixOptions, measure: Measure): Promise<Prefix> {
  const room = roomOf(asked);
  const wanted = pieces.filter(saysSomething);
  const draft = new Map<Piece, string>();
  for (const { piece } of await choose(wanted, room, asked, measure)) draft.set(piece, textOf(piece));
  const text = (): string => textOfPrefix(wanted, draft);
  // Token counts are not additive. The piece chosen last is removed first.
  while (draft.size > 0 && (await measure.of(text())) > room) draft.delete([...draft.keys()].at(-1) as Piece);
  await cutNext(wanted, draft, { own: room, all: asked.budgetTokens }, measure);

  const said = new Said();
  for (const [piece, shown] of draft) said.add(sayerOf(piece, shown));
  const left = pieces
    .filter((piece) => !draft.has(piece))
    .map((piece) => ({ part: piece.part, id: piece.id, why: whyLeft(piece, said) }));
  return { text: text(), said, left };
}

function textOfPrefix(order: readonly Piece[], shown: ReadonlyMap<Piece, string>): string {
  return shown.size === 0 ? "" : [PREAMBLE, ...order.flatMap((piece) => shown.get(piece) ?? [])].join("\n");
}

function whyLeft(piece: Piece, said: Said): string {
  if (!saysSomething(piece)) return "it is blank";
  const sayer = said.by(piece);
  return sayer === undefined ? "no room in the prefix" : `the prefix says the same: ${sayer}`;
}

/**
 * Adds what fits of the first piece that did not fit whole, if that is long enough; if nothing was chosen, at least one
 * grapheme.
 */
async function cutNext(
  wanted: readonly Piece[],
  draft: Map<Piece, string>,
  room: Room,
  measure: Measure,
): Promise<void> {
  const said = new Said();
  for (const piece of draft.keys()) said.add(piece);
  const whole: Whole = (piece, shown) => textOfPrefix(wanted, new Map([...draft, [piece, shown]]));
  const out = wanted.filter((piece) => !draft.has(piece) && !said.has(piece));
  if (draft.size > 0) {
    const [next] = out;
    const isEnough = room.own - (await measure.of(textOfPrefix(wanted, draft))) >= CUT_TOKENS_MIN;
    const cut = next && isEnough ? await cutToFit(next, room.own, whole, measure) : undefined;
    if (next && cut !== undefined) draft.set(next, cut);
    return;
  }
  const first = await firstToCut(out, room.own, whole, measure);
  const cut = first && (await cutToFit(first.piece, room.own, whole, measure));
  if (first && cut !== undefined) {
    draft.set(first.piece, cut);
    return;
  }
  const least = await firstToCut(out, room.all, whole, measure);
  if (least) draft.set(least.piece, least.shown);
}

function roomOf({ budgetTokens, shares: { blocks, facts, turns, recall } }: PrefixOptions): number {
  return Math.floor((budgetTokens * (blocks + facts)) / (blocks + facts + turns + recall));
}

async function choose(
  wanted: readonly Piece[],
  room: number,
  { shares }: PrefixOptions,
  measure: Measure,
): Promise<readonly Measured[]> {
  const [preamble = 0, ...tokens] = await measure.each([PREAMBLE, ...wanted.map(textOf)].map((line) => `${line}\n`));
  const measured = wanted.map((piece, index) => ({ piece, tokens: tokens[index] ?? Infinity }));
  const parts = (["blocks", "facts"] as const).map(
    (part): WeightedPart => ({
      weight: shares[part],
      pieces: measured.filter(({ piece }) => piece.part === part),
      headingTokens: 0,
    }),
  );
  return allocate(parts, room - preamble, new Said());
}

/** If a piece was cut, only its remaining part counts as said. */
function sayerOf(piece: Piece, shown: string): Pick<Piece, "id" | "ref" | "keys"> {
  if (shown === textOf(piece)) return piece;
  return { id: piece.id, ref: piece.ref, keys: blockKeys(unquoted(shown.slice(piece.head.length, -CUT.length))) };
}
