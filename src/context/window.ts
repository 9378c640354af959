/**
 * The model's window according to the ledger, compared with the store: which items are unchanged, which have changed,
 * and which are gone. It covers only the spaces that the call may read.
 */
import { FACT_STATES, type Fact } from "../stores/facts.js";
import { type LedgerEntry, ledgerState } from "../stores/ledger.js";
import type { Store } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import { factPiece, itemPiece, type Piece } from "./piece.js";
import { parseRef, type Reference, sameSpace } from "./reference.js";
import { Said } from "./said.js";

/** An item in the window that is no longer true. */
export interface Correction {
  readonly ref: string;
  readonly reference: Reference;
  /** Its current state; absent if it is gone. */
  readonly piece?: Piece;
}

export interface Window {
  /** The state of the ledger that it was read from. */
  readonly state: string;
  /** Unchanged items by reference; they need not be given again. */
  readonly standing: ReadonlyMap<string, LedgerEntry>;
  /** In the order of the ledger. */
  readonly corrections: readonly Correction[];
  /** What the unchanged items say. */
  readonly said: Said;
}

/** A window without known contents. */
export const EMPTY_WINDOW: Window = { state: ledgerState([]), standing: new Map(), corrections: [], said: new Said() };

export interface WindowReads {
  readonly store: Pick<Store, "get" | "facts">;
  readonly spaces: readonly SpaceRef[];
  /** The caller's own space. */
  readonly own: SpaceRef;
  readonly now: number;
}

export async function readWindow(entries: readonly LedgerEntry[], reads: WindowReads): Promise<Window> {
  const named = entries.flatMap((entry) => {
    const reference = parseRef(entry.ref);
    return reference && reads.spaces.some((space) => sameSpace(space, reference.space)) ? [{ entry, reference }] : [];
  });
  const pieces = await piecesNow(
    named.map(({ reference }) => reference),
    reads,
  );
  const standing = new Map<string, LedgerEntry>();
  const corrections: Correction[] = [];
  const said = new Said();
  for (const { entry, reference } of named) {
    const piece = pieces.get(entry.ref);
    if (piece?.state === entry.version) {
      standing.set(entry.ref, entry);
      said.add(piece);
    } else corrections.push({ ref: entry.ref, reference, ...(piece && { piece }) });
  }
  return { state: ledgerState(entries), standing, corrections, said };
}

/** The current pieces of these references, by reference; without those that are gone. */
async function piecesNow(
  references: readonly Reference[],
  { store, spaces, own, now }: WindowReads,
): Promise<ReadonlyMap<string, Piece>> {
  const perSpace = spaces.map(async (space): Promise<readonly Piece[]> => {
    const here = references.filter((reference) => sameSpace(reference.space, space));
    const isFact = ({ kind }: Reference): boolean => kind === "fact" || kind === "past";
    const factIds = [...new Set(here.filter(isFact).map(({ id }) => id))];
    const itemIds = here.filter((reference) => !isFact(reference)).map(({ id }) => id);
    const [facts, items] = await Promise.all([
      factIds.length === 0
        ? []
        : store
            .facts({ spaces: [space], ids: factIds, states: FACT_STATES, limit: factIds.length, now })
            .then((page) => page.items),
      itemIds.length === 0 ? [] : store.get([space], itemIds, now),
    ]);
    return [...facts.flatMap((fact) => factPieces(fact, own)), ...items.map((item) => itemPiece(item, own))];
  });
  return new Map((await Promise.all(perSpace)).flat().map((piece) => [piece.ref, piece]));
}

/** The fact as it holds, if it does, and as it held. A retracted fact never held. */
function factPieces(fact: Fact, own: SpaceRef): readonly Piece[] {
  if (fact.state === "retracted") return [];
  const past = fact.spans.find(({ to }) => to !== undefined);
  return [
    ...(fact.state === "holds" ? [factPiece(fact, own)] : []),
    ...(past ? [factPiece(fact, own, past.from)] : []),
  ];
}
