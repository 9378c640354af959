/**
 * ContextPath: assembles the context of a model's next turn from everything that is remembered.
 *
 *   read    blocks, facts, turns, recalled text, the ledger       reads.ts, window.ts
 *   prefix  blocks and pinned facts, the same bytes each time     prefix.ts
 *   tail    what is new, what changed and what no longer holds    tail.ts
 *   ledger  records what the window contains from now on
 *
 * - `renderText` of a context has exactly `tokens.total` tokens, which are within the budget.
 * - An item is given once, and again only after it changes or the window is reset. The ledger is written before the
 *   context is returned, and only if it is unchanged since the context was read; if another process changed it, the
 *   context is assembled again. Calls for one session in one process run one after the other. A context that cannot be
 *   recorded in time is returned all the same, and says so.
 * - A call that is repeated with its idempotency key first reverts what the lost answer recorded, so that it is given
 *   again.
 * - Only invalid input and a closed memory are errors. Any other failure makes the context poorer, and is reported in
 *   it.
 */

import { Deadline } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { ParsedContext } from "../input/context.js";
import { normaliseQuestion } from "../input/query.js";
import type { ParsedScope } from "../input/scope.js";
import { KeyedMutex } from "../keyed-mutex.js";
import { laneKey, spaceKey } from "../space-key.js";
import type { LedgerChange, LedgerDone, LedgerWrite } from "../stores/ledger.js";
import type { OnceWrite } from "../stores/receipts.js";
import type { Counter } from "../tokens/counters.js";
import type { Hit, SpaceRef } from "../types.js";
import type { Context, ContextItem, LeftItem } from "./context.js";
import type { TailStatement } from "./given.js";
import { Measure } from "./measure.js";
import { blockPiece, factPiece, itemPiece, type Piece, turnPiece } from "./piece.js";
import { makePrefix, type Prefix } from "./prefix.js";
import { type ContextSources, type Found, findParts } from "./reads.js";
import { itemKind } from "./reference.js";
import { joinText } from "./render.js";
import { makeTail, type Tail } from "./tail.js";
import { EMPTY_WINDOW, type Window } from "./window.js";

export interface ContextPathParts extends ContextSources {
  /** Applied once per idempotency key, if there is one. */
  readonly write: (write: LedgerWrite, once?: OnceWrite) => Promise<Noted>;
  /** What the call with this key recorded, if it was carried out before. */
  readonly noted: (once: OnceWrite) => Promise<Noted | undefined>;
  readonly counters: { of(name: string): Counter };
  /** The counter for calls that name none. */
  readonly counter: string;
}

/** If repeated, `before` is what the first call found. */
type Noted = LedgerDone & { readonly repeated?: boolean };

/** A context that is not yet recorded in the ledger. */
interface ContextDraft {
  readonly measure: Measure;
  readonly found: Found;
  readonly prefix: Prefix;
  /** Hits that only repeat the question. */
  readonly echoes: readonly LeftItem[];
  readonly tail: Tail;
}

interface Recorded {
  readonly isStale?: boolean;
  readonly isRepeated?: boolean;
  readonly fault?: string;
}

const NOT_RECORDED: Recorded = { fault: "ledger: not written, so this may be given again" };

/** How many times a context is assembled again because the window changed meanwhile. */
const ATTEMPTS = 16;
/** How long a context waits to be recorded. Another process may hold the write lock for longer, to rewrite the file. */
const RECORD_MS = 2_000;

export class ContextPath {
  readonly #parts: ContextPathParts;
  readonly #sessions = new KeyedMutex();

  constructor(parts: ContextPathParts) {
    this.#parts = parts;
  }

  context(place: ParsedScope, asked: ParsedContext, once?: OnceWrite): Promise<Context> {
    if (asked.fresh || place.session === undefined) return this.#assemble(place, asked);
    return this.#sessions.run(windowKey(place.space, place.session), () => this.#assemble(place, asked, once));
  }

  /**
   * The model's window is empty again, for instance after a compaction. Without a session there is no window to reset.
   */
  async windowReset({ space, session }: ParsedScope, once?: OnceWrite): Promise<void> {
    if (session === undefined) return;
    const write: LedgerWrite = { op: "ledger", space, session, reset: true, drop: [], put: [], saved: 0 };
    await this.#sessions.run(windowKey(space, session), () => this.#parts.write(write, once));
  }

  async #assemble(place: ParsedScope, asked: ParsedContext, once?: OnceWrite): Promise<Context> {
    const { clock } = this.#parts;
    const until = clock.now() + (asked.deadlineMs ?? Infinity);
    let unused = once;
    for (let attempt = 1; ; attempt++) {
      const draft = await this.#draft(place, asked);
      const isLast = attempt === ATTEMPTS || clock.now() >= until;
      const { window } = draft.found;
      const recorded =
        window && !asked.dryRun ? await this.#inTime(this.#record(place, draft.tail, window, isLast, unused)) : {};
      if (recorded.isRepeated) unused = undefined;
      else if (!recorded.isStale) return contextOf(draft, asked, recorded.fault);
    }
  }

  async #inTime(record: Promise<Recorded>): Promise<Recorded> {
    const deadline = new Deadline(this.#parts.clock, RECORD_MS);
    try {
      return (await deadline.within(record)) ?? NOT_RECORDED;
    } finally {
      deadline.clear();
    }
  }

  async #draft(place: ParsedScope, asked: ParsedContext): Promise<ContextDraft> {
    const counter = this.#parts.counters.of(asked.counter ?? this.#parts.counter);
    const measure = new Measure(counter, asked.budgetTokens);
    const found = await findParts(this.#parts, place, asked);
    const prefix = await makePrefix(prefixPieces(found, place.space), asked, measure);
    const [candidates, echoes] = tailPieces(found, place.space, asked);
    const tail = await makeTail(candidates, { asked, prefix, window: found.window ?? EMPTY_WINDOW, measure });
    return { measure, found, prefix, echoes, tail };
  }

  /**
   * Records what the window contains from now on. If the ledger has changed, writes it only if there is no time to
   * retry.
   */
  async #record(
    { space, session }: ParsedScope,
    { given, saved }: Tail,
    { state }: Window,
    isLast: boolean,
    once: OnceWrite | undefined,
  ): Promise<Recorded> {
    if (session === undefined) return {};
    const put = given.flatMap(({ piece, tokens }) => (piece ? [{ ref: piece.ref, version: piece.state, tokens }] : []));
    const drop = given.flatMap(({ piece, correction }) => (piece || !correction ? [] : [correction.ref]));
    const write: LedgerWrite = { op: "ledger", space, session, reset: false, drop, put, saved };
    try {
      const careful = given.length > 0 ? { ...write, expected: state } : write;
      const isNothing = given.length === 0 && saved === 0;
      const noted = isNothing ? once && this.#parts.noted(once) : this.#parts.write(careful, once);
      const { isStale = false, repeated, before = [] } = (await noted) ?? {};
      if (repeated) {
        await this.#parts.write({ ...write, ...undoing(before), saved: 0 });
        return { isRepeated: true };
      }
      if (!isStale || !isLast) return { isStale };
      await this.#parts.write(write, once);
      return {
        fault: "ledger: it was changed by other calls all the time, so some of this may be in the window twice",
      };
    } catch (error) {
      if (error instanceof HoldfastError && (error.code === "closed" || error.code === "conflict")) throw error;
      return NOT_RECORDED;
    }
  }
}

/** The write that restores the ledger's previous entries. */
const undoing = (before: readonly LedgerChange[]): Pick<LedgerWrite, "drop" | "put"> => ({
  drop: before.flatMap(({ ref, version }) => (version === undefined ? [ref] : [])),
  put: before.flatMap(({ ref, version, tokens = 0 }) => (version === undefined ? [] : [{ ref, version, tokens }])),
});

async function contextOf(draft: ContextDraft, asked: ParsedContext, writeFault: string | undefined): Promise<Context> {
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

const windowKey = (space: SpaceRef, session: string): string => laneKey({ space, session });

const prefixPieces = ({ blocks, pinned }: Found, own: SpaceRef): readonly Piece[] => [
  ...blocks.map((block) => blockPiece(block, own)),
  ...pinned.map((fact) => factPiece(fact, own)),
];

/** The candidates for the tail, each part best first, and the hits that only repeat the question. */
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

function itemsOf({ piece, text, tokens, cut }: TailStatement): readonly ContextItem[] {
  if (!piece || piece.kind === "block") return [];
  const { part, kind, id, space, version } = piece;
  return [{ part, kind: itemKind(kind), id, space, version, text, tokens, cut }];
}
