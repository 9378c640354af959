/**
 * ContextPath: what a model is given before its next turn, put together from all that is remembered.
 *
 *   read    blocks, facts, turns, recalled text, the ledger       reads.ts, window.ts
 *   prefix  blocks and pinned facts, the same bytes each time     prefix.ts
 *   tail    what is new, what changed and what no longer holds    tail.ts
 *   ledger  what stands in the window from now on
 *
 * - `renderText` of a context has exactly `tokens.total` tokens, and these are within the budget.
 * - What was given once is not given again until it changes or the window is reset. The ledger is written before the
 *   context is handed out, and only if it still is what the context was made from: if another process was faster, the
 *   context is made anew. The calls of one session in one process follow each other.
 * - Only wrong input and a closed memory are errors; all else makes the context poorer and is told.
 */
import { HoldfastError } from "../errors.js";
import type { ParsedContext } from "../input/context.js";
import { normaliseQuestion } from "../input/normalise.js";
import type { ParsedScope } from "../input/scope.js";
import { OneByOne } from "../one-by-one.js";
import type { LedgerDone, LedgerWrite } from "../stores/ledger.js";
import type { Counter } from "../tokens/counters.js";
import type { Hit, SpaceRef } from "../types.js";
import type { Context, ContextItem, LeftItem } from "./context.js";
import type { Given } from "./given.js";
import { Measure } from "./measure.js";
import { blockPiece, factPiece, itemPiece, type Piece, turnPiece } from "./piece.js";
import { makePrefix, type Prefix } from "./prefix.js";
import { type ContextSources, type Found, findParts } from "./reads.js";
import { itemKind, spaceKey } from "./reference.js";
import { joinText } from "./render.js";
import { makeTail, type Tail } from "./tail.js";
import { EMPTY_WINDOW, type Window } from "./window.js";

export interface ContextPathParts extends ContextSources {
  readonly write: (write: LedgerWrite) => Promise<LedgerDone>;
  readonly counters: { of(name: string): Counter };
  /** The counter where a call names none. */
  readonly counter: string;
}

/** A context before it is noted in the ledger. */
interface Draft {
  readonly measure: Measure;
  readonly found: Found;
  readonly prefix: Prefix;
  /** What only repeats the question. */
  readonly echoes: readonly LeftItem[];
  readonly tail: Tail;
}

/** How often a context is made anew because the window was given something else meanwhile. */
const ATTEMPTS = 16;

export class ContextPath {
  readonly #parts: ContextPathParts;
  readonly #sessions = new OneByOne();

  constructor(parts: ContextPathParts) {
    this.#parts = parts;
  }

  context(place: ParsedScope, asked: ParsedContext): Promise<Context> {
    if (asked.fresh || place.session === undefined) return this.#assemble(place, asked);
    return this.#sessions.run(windowKey(place.space, place.session), () => this.#assemble(place, asked));
  }

  /** The model's window is empty again, after a compaction for instance. Without a session there is no window to reset. */
  async windowReset({ space, session }: ParsedScope): Promise<void> {
    if (session === undefined) return;
    const write: LedgerWrite = { op: "ledger", space, session, reset: true, drop: [], put: [], saved: 0 };
    await this.#sessions.run(windowKey(space, session), () => this.#parts.write(write));
  }

  async #assemble(place: ParsedScope, asked: ParsedContext): Promise<Context> {
    const { clock } = this.#parts;
    const until = clock.now() + (asked.deadlineMs ?? Infinity);
    for (let attempt = 1; ; attempt++) {
      const draft = await this.#draft(place, asked);
      const isLast = attempt === ATTEMPTS || clock.now() >= until;
      const { window } = draft.found;
      const recorded = window && !asked.dryRun ? await this.#record(place, draft.tail, window, isLast) : {};
      if (!recorded.isStale) return contextOf(draft, asked, recorded.fault);
    }
  }

  async #draft(place: ParsedScope, asked: ParsedContext): Promise<Draft> {
    const counter = this.#parts.counters.of(asked.counter ?? this.#parts.counter);
    const measure = new Measure(counter, asked.budgetTokens);
    const found = await findParts(this.#parts, place, asked);
    const prefix = await makePrefix(prefixPieces(found, place.space), asked, measure);
    const [candidates, echoes] = tailPieces(found, place.space, asked);
    const tail = await makeTail(candidates, { asked, prefix, window: found.window ?? EMPTY_WINDOW, measure });
    return { measure, found, prefix, echoes, tail };
  }

  /** Notes what the window holds from now on; if it is another than it was, only when there is no time to look again. */
  async #record(
    { space, session }: ParsedScope,
    { given, saved }: Tail,
    { state }: Window,
    isLast: boolean,
  ): Promise<{ readonly isStale?: boolean; readonly fault?: string }> {
    if (session === undefined || (given.length === 0 && saved === 0)) return {};
    const put = given.flatMap(({ piece, tokens }) => (piece ? [{ ref: piece.ref, version: piece.state, tokens }] : []));
    const drop = given.flatMap(({ piece, correction }) => (piece || !correction ? [] : [correction.ref]));
    const write: LedgerWrite = { op: "ledger", space, session, reset: false, drop, put, saved };
    try {
      const { isStale = false } = await this.#parts.write(given.length > 0 ? { ...write, expected: state } : write);
      if (!isStale || !isLast) return { isStale };
      await this.#parts.write(write);
      return { fault: "ledger: others have given from it all the time, so that some of this may stand there twice" };
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "closed") throw error;
      return { fault: "ledger: not written, so that this may be given again" };
    }
  }
}

async function contextOf(draft: Draft, asked: ParsedContext, writeFault: string | undefined): Promise<Context> {
  const { measure, found, prefix, echoes, tail } = draft;
  const isGiven = (id: string): boolean => tail.given.some(({ piece }) => piece?.id === id);
  const [inPrefix, inTail, total] = [
    await measure.of(prefix.text),
    await measure.of(tail.text),
    await measure.of(joinText(prefix.text, tail.text)),
  ];
  const counting = measure.failed ? ["tokens: counted as bytes, because the counter failed"] : [];
  const degraded = [...found.troubles, ...counting, ...(writeFault ? [writeFault] : [])].join("; ");
  return {
    prefix: prefix.text,
    tail: tail.text,
    tokens: { prefix: inPrefix, tail: inTail, total, budget: asked.budgetTokens, saved: tail.saved },
    added: tail.given.flatMap((given) => (given.correction ? [] : itemsOf(given))),
    changed: tail.given.flatMap((given) => (given.correction ? itemsOf(given) : [])),
    retracted: tail.given.flatMap(({ piece, correction }) => {
      if (piece || !correction) return [];
      const { kind, id, space } = correction.reference;
      return [{ kind: itemKind(kind), id, space }];
    }),
    left: [...prefix.left, ...tail.left, ...echoes.filter(({ id }) => !isGiven(id))],
    partial: found.partial,
    ...(degraded !== "" && { degraded }),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const windowKey = (space: SpaceRef, session: string): string => JSON.stringify([spaceKey(space), session]);

const prefixPieces = ({ blocks, pinned }: Found, own: SpaceRef): readonly Piece[] => [
  ...blocks.map((block) => blockPiece(block, own)),
  ...pinned.map((fact) => factPiece(fact, own)),
];

/** What the tail may say, each part best first; and what only repeats the question. */
function tailPieces(
  { facts, turns, hits }: Found,
  own: SpaceRef,
  { query = "", asOf }: ParsedContext,
): readonly [candidates: readonly Piece[], echoes: readonly LeftItem[]] {
  const question = normaliseQuestion(query);
  const isEcho = ({ kind, role, content }: Hit): boolean =>
    kind === "message" && role === "user" && normaliseQuestion(content) === question;
  const candidates = [
    ...facts.map((fact) => factPiece(fact, own, asOf)),
    ...turns.map((item) => turnPiece(item, own)),
    ...hits
      .filter((hit) => !isEcho(hit))
      .toSorted((a, b) => b.score - a.score || compare(a.id, b.id) || compare(spaceKey(a.space), spaceKey(b.space)))
      .map((hit) => itemPiece(hit, own)),
  ];
  const echoes = hits
    .filter(isEcho)
    .map(({ id }) => ({ part: "recall", id, why: "it is the question itself" }) as const);
  return [candidates, echoes];
}

function itemsOf({ piece, text, tokens, cut }: Given): readonly ContextItem[] {
  if (!piece || piece.kind === "block") return [];
  const { part, kind, id, space, version } = piece;
  return [{ part, kind: itemKind(kind), id, space, version, text, tokens, cut }];
}
