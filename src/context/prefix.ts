/**
 * The prefix: blocks and pinned facts, in an order of their own.
 *
 * It follows from what they say, their order, the budget, the shares and the counter, and from nothing else: no clock, no
 * question, no turn, nothing that was found. So it is the same, byte for byte, until one of them changes.
 * Its room is a fixed part of the budget, whatever the tail needs. Blocks and facts that fit stand whole; the first that
 * does not is cut, if there is room for more than a few words of it. Only where nothing fits, one grapheme may exceed the
 * prefix's part, but not the budget: what there is to say is never all left out.
 */
import type { ParsedContext } from "../input/context.js";
import { allocate, type Lot, type Measured } from "./allocation.js";
import type { LeftItem } from "./context.js";
import { cutToFit, firstToCut, type Whole } from "./cut.js";
import { CUT, PREAMBLE, unquoted } from "./fence.js";
import type { Measure } from "./measure.js";
import { blockKeys, type Piece, saysSomething, textOf } from "./piece.js";
import { Said } from "./said.js";

/** Tokens that the prefix may have as a rule, and those that there are. */
interface Room {
  readonly own: number;
  readonly all: number;
}

type Asked = Pick<ParsedContext, "budgetTokens" | "shares">;

export interface Prefix {
  readonly text: string;
  readonly said: Said;
  readonly left: readonly LeftItem[];
}

/** Below this a cut says too little for what its heading costs. */
const CUT_TOKENS_MIN = 32;

/** Requires pieces in their order: blocks, then pinned facts. */
export async function makePrefix(pieces: readonly Piece[], asked: Asked, measure: Measure): Promise<Prefix> {
  const room = roomOf(asked);
  const wanted = pieces.filter(saysSomething);
  const draft = new Map<Piece, string>();
  for (const { piece } of await choose(wanted, room, asked, measure)) draft.set(piece, textOf(piece));
  const text = (): string => textOfPrefix(wanted, draft);
  // Tokens of parts do not add up. What was chosen last leaves first.
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

/** Adds what fits of the first that did not fit whole, if that says enough; if nothing did, at least one grapheme. */
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

function roomOf({ budgetTokens, shares: { blocks, facts, turns, recall } }: Asked): number {
  return Math.floor((budgetTokens * (blocks + facts)) / (blocks + facts + turns + recall));
}

async function choose(
  wanted: readonly Piece[],
  room: number,
  { shares }: Asked,
  measure: Measure,
): Promise<readonly Measured[]> {
  const [preamble = 0, ...tokens] = await measure.each([PREAMBLE, ...wanted.map(textOf)].map((line) => `${line}\n`));
  const measured = wanted.map((piece, index) => ({ piece, tokens: tokens[index] ?? Infinity }));
  const lots = (["blocks", "facts"] as const).map(
    (part): Lot => ({
      weight: shares[part],
      pieces: measured.filter(({ piece }) => piece.part === part),
      headingTokens: 0,
    }),
  );
  return allocate(lots, room - preamble, new Said());
}

/** Of a piece that was cut, only what is left counts as said. */
function sayerOf(piece: Piece, shown: string): Pick<Piece, "id" | "ref" | "keys"> {
  if (shown === textOf(piece)) return piece;
  return { id: piece.id, ref: piece.ref, keys: blockKeys(unquoted(shown.slice(piece.head.length, -CUT.length))) };
}
