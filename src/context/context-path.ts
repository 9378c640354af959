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
 *   context is handed out, and the calls of one session follow each other. Another process may give the same at the same
 *   moment.
 * - Only wrong input and a closed memory are errors; all else makes the context poorer and is told.
 */
import { HoldfastError } from "../errors.js";
import type { ParsedContext } from "../input/context.js";
import { normaliseQuestion } from "../input/normalise.js";
import type { ParsedScope } from "../input/scope.js";
import { OneByOne } from "../one-by-one.js";
import type { LedgerWrite } from "../stores/ledger.js";
import type { Counter } from "../tokens/counters.js";
import type { Hit, SpaceRef } from "../types.js";
import type { Context, ContextItem, LeftItem } from "./context.js";
import type { Given } from "./given.js";
import { Measure } from "./measure.js";
import { blockPiece, factPiece, itemPiece, type Piece, turnPiece } from "./piece.js";
import { makePrefix } from "./prefix.js";
import { type ContextSources, type Found, findParts } from "./reads.js";
import { itemKind, spaceKey } from "./reference.js";
import { joinText } from "./render.js";
import { makeTail, type Tail } from "./tail.js";
import { EMPTY_WINDOW } from "./window.js";

export interface ContextPathParts extends ContextSources {
  readonly write: (write: LedgerWrite) => Promise<void>;
  readonly counters: { of(name: string): Counter };
  /** The counter where a call names none. */
  readonly counter: string;
}

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
    const counter = this.#parts.counters.of(asked.counter ?? this.#parts.counter);
    const measure = new Measure(counter, asked.budgetTokens);
    const found = await findParts(this.#parts, place, asked);
    const prefix = await makePrefix(prefixPieces(found, place.space), asked, measure);
    const [candidates, echoes] = tailPieces(found, place.space, asked);
    const window = found.window ?? EMPTY_WINDOW;
    const tail = await makeTail(candidates, { asked, prefix, window, measure });
    const writeFault = found.window && !asked.dryRun ? await this.#record(place, tail) : undefined;

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

  /** Notes what the window holds from now on; says what is wrong if that fails. */
  async #record({ space, session }: ParsedScope, { given, saved }: Tail): Promise<string | undefined> {
    if (session === undefined || (given.length === 0 && saved === 0)) return undefined;
    const put = given.flatMap(({ piece, tokens }) => (piece ? [{ ref: piece.ref, version: piece.state, tokens }] : []));
    const drop = given.flatMap(({ piece, correction }) => (piece || !correction ? [] : [correction.ref]));
    try {
      await this.#parts.write({ op: "ledger", space, session, reset: false, drop, put, saved });
      return undefined;
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "closed") throw error;
      return "ledger: not written, so that this may be given again";
    }
  }
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
