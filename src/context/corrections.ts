/** Corrections: what the tail says about items in the window that have changed or are gone. */
import type { TailStatement } from "./given.js";
import type { Measure } from "./measure.js";
import { asReplacement, goneLine, type Piece, saysSomething, staleLine, textOf } from "./piece.js";
import type { Correction, Window } from "./window.js";

/** The forms of a correction, best first: the new text, or a line that withdraws the old one. */
type Forms = readonly TailStatement[];

export async function formsOf({ corrections }: Window, measure: Measure): Promise<readonly Forms[]> {
  const drafts = corrections.map((correction) => draftsOf(correction));
  const texts = drafts.flat().map(({ text }) => `${text}\n`);
  const tokens = (await measure.each(texts)).values();
  return drafts.map((forms) => forms.map((form) => ({ ...form, tokens: tokens.next().value ?? Infinity })));
}

function draftsOf(correction: Correction): readonly Omit<TailStatement, "tokens">[] {
  const { piece, reference } = correction;
  if (!piece || !saysSomething(piece)) return [{ correction, text: goneLine(reference), cut: false }];
  const replacement: Piece = asReplacement(piece);
  return [
    { correction, piece: replacement, text: textOf(replacement), cut: false },
    { correction, text: staleLine(reference), cut: false },
  ];
}

/**
 * As many corrections as fit, in order, each in its best form. The first may take all the room, all together only
 * `share`.
 */
export function chooseCorrections(all: readonly Forms[], room: number, share: number): readonly TailStatement[] {
  const chosen: TailStatement[] = [];
  let open = room;
  for (const forms of all) {
    const form = forms.find(({ tokens }) => tokens <= open);
    if (!form) continue;
    chosen.push(form);
    open = Math.min(room, share) - chosen.reduce((sum, { tokens }) => sum + tokens, 0);
  }
  return chosen;
}
