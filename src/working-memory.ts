/**
 * WorkingMemory: blocks, facts, points, turns, promotions and contexts, which agents edit and receive in addition to
 * messages. It connects these parts to the two paths: they write through the WriteBuffer and search through `query`.
 */
import { isOvertaken, MemoryBlocks } from "./blocks/memory-blocks.js";
import { joinAdded, mergeAdded } from "./buffers/answers.js";
import type { Meter } from "./buffers/meter.js";
import { type BufferedWrite, Turn, type TurnBatch } from "./buffers/turn.js";
import { type TurnUnit, turnUnit } from "./buffers/turn-unit.js";
import { NOTHING_ADDED, type UnitResult, type WriteBuffer } from "./buffers/write.js";
import type { Context } from "./context/context.js";
import { ContextPath } from "./context/context-path.js";
import type { Extractor } from "./extraction/extractor.js";
import { MemoryFacts } from "./facts/memory-facts.js";
import { parseWriteOptions, splitKey, type WriteOptions } from "./input/call.js";
import { type ContextOptions, parseContext } from "./input/context.js";
import { type KeyPlace, onceOf } from "./input/once.js";
import { parsePage } from "./input/page.js";
import { type PromoteOptions, type PromotionsOptions, parsePromotion, parsePromotions } from "./input/promotion.js";
import type { QueryOptions } from "./input/query.js";
import { invalid } from "./input/refusal.js";
import type { ParsedScope } from "./input/scope.js";
import type { ResolvedOptions } from "./options.js";
import { MemoryPoints } from "./points/memory-points.js";
import { laneKey, spaceKey } from "./space-key.js";
import type { Ledger, LedgerWrite } from "./stores/ledger.js";
import type { Promotion } from "./stores/promotions.js";
import type { OnceWrite } from "./stores/receipts.js";
import type { Done, ForgetWrite, NewRow, Store, Unit } from "./stores/store.js";
import { Counters } from "./tokens/counters.js";
import type { Added, ForgetReceipt, Hits, Page, SpaceRef } from "./types.js";

export interface WorkingMemoryParts {
  readonly store: Store;
  readonly options: ResolvedOptions;
  readonly writes: WriteBuffer;
  readonly meter: Meter;
  readonly extractor?: Extractor | undefined;
  /** Wall-clock time. Throws if the memory is closed. */
  readonly now: () => number;
  readonly query: (place: ParsedScope, text: string, options: QueryOptions) => Promise<Hits>;
  readonly forget: (target: ForgetWrite["target"]) => Promise<ForgetReceipt>;
  readonly deleteItems: (space: SpaceRef, ids: readonly string[]) => Promise<ForgetReceipt>;
  /** Called when messages of a turn were committed. */
  readonly said: (place: ParsedScope, rows: readonly NewRow[]) => void;
  /** Called when items were added to a session, or to a space outside any session, and wait to be embedded. */
  readonly added: (space: SpaceRef, session?: string) => Promise<void>;
}

/** Upper bound on attempts to plan a turn, which repeat when a block that it edits was written concurrently. */
const ATTEMPTS = 1_000;

export class WorkingMemory {
  readonly blocks: MemoryBlocks;
  readonly facts: MemoryFacts;
  readonly points: MemoryPoints;
  readonly #parts: WorkingMemoryParts;
  readonly #counters: Counters;
  readonly #contexts: ContextPath;

  constructor(parts: WorkingMemoryParts) {
    const { store, options, now, query, added, extractor } = parts;
    this.#parts = parts;
    this.#counters = new Counters(options.clock);
    const write = async (lane: string, unit: Unit, once?: OnceWrite) =>
      (await parts.writes.writeUnit(lane, unit, once)).done;
    this.blocks = new MemoryBlocks({
      store,
      counters: this.#counters,
      now,
      write,
      first: (once) => this.#first(once),
      forget: (space, id) => parts.forget({ space, block: id }),
      forgetItems: parts.deleteItems,
      added,
    });
    const resultsMax = options.buffer.query.maxSize;
    this.facts = new MemoryFacts({ store, now, query, resultsMax, write, changed: added, extractor });
    this.points = new MemoryPoints({ store, now, forget: parts.forget });
    this.#contexts = new ContextPath({
      store,
      query,
      facts: (place, text, { limit, ...search }) => this.facts.find(place, text, { ...search, topK: limit }),
      write: (ledger, once) => this.#writeLedger([ledger], ledger, once),
      noted: (once) => this.#writeLedger([], once, once),
      counters: this.#counters,
      counter: options.buffer.roundBuffer.tokenModel,
      clock: options.clock,
    });
  }

  async context(place: ParsedScope, options: ContextOptions): Promise<Context> {
    this.#parts.now();
    const { key, rest } = splitKey(options);
    const asked = parseContext(rest, place);
    const started = performance.now();
    const context = await this.#contexts.context(place, asked, onceOf(key, place, "context", rest));
    this.#parts.meter.assembled(performance.now() - started);
    return context;
  }

  windowReset(place: ParsedScope, options?: WriteOptions): Promise<void> {
    this.#parts.now();
    return this.#contexts.windowReset(place, onceOf(parseWriteOptions(options), place, "windowReset"));
  }

  async ledger(place: ParsedScope): Promise<Ledger> {
    this.#parts.now();
    if (place.session === undefined) throw invalid("scope", "names no session", "a window is that of one session");
    return this.#parts.store.ledger(place.space, place.session);
  }

  /** Copies items into another space and logs the promotion there. Returns the ids of the copies. */
  async promote(place: ParsedScope, ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    this.#parts.now();
    const { key, rest } = splitKey(options);
    const write = parsePromotion(place, ids, rest);
    const once = onceOf(key, { space: place.space }, "promote", ids, rest);
    const promoted = await this.#parts.writes.writeOne(`promote ${spaceKey(write.to)}`, write, once);
    await this.#parts.added(write.to);
    return promoted.ids;
  }

  /** A page of the promotions into the scope's space, newest first. */
  promotions({ space }: ParsedScope, options: PromotionsOptions): Promise<Page<Promotion>> {
    this.#parts.now();
    return this.#parts.store.promotions({ space, ...parsePage(parsePromotions(options)) });
  }

  /**
   * Commits the writes collected in a turn, in one transaction. On failure the turn keeps them for a retry, which edits
   * no block twice, whatever the outcome of the first attempt. Writes pushed since then are committed after the retry.
   */
  async commit(place: ParsedScope, turn: Turn, options?: WriteOptions): Promise<Added> {
    const key = parseWriteOptions(options);
    Turn.bind(turn, place);
    const added: Added[] = [];
    do {
      const batch = turn.take(this.#parts.now(), key);
      try {
        added.push(await this.#commitBatch(place, batch, key !== undefined));
      } catch (error) {
        turn.giveBack(batch);
        throw error;
      }
    } while (!turn.isEmpty);
    return joinAdded(added);
  }

  /**
   * Commits one batch. Messages and points have ids, and a fact is identified by its content, so only edits need a key to
   * be idempotent.
   */
  async #commitBatch(place: ParsedScope, { key, given, writes }: TurnBatch, isKeyed: boolean): Promise<Added> {
    const where = writes.some(({ op }) => op === "save_message") ? place : { space: place.space };
    const needsKey = isKeyed || writes.some(({ op }) => op === "edit_block");
    const once = needsKey ? onceOf(key, where, "commit", given) : undefined;
    for (let attempt = 1; ; attempt++) {
      const planned = await this.#planned(place, writes, once);
      if (!planned) return NOTHING_ADDED;
      const results = await this.#parts.writes.write({
        lane: laneKey(place),
        units: [{ ...planned, once }],
        stepwise: true,
      });
      if (attempt < ATTEMPTS && isToBePlannedAnew(results, planned)) continue;
      const added = mergeAdded(results, 1);
      await this.#parts.added(place.space); // facts and overflow belong to no session
      this.#parts.said(
        place,
        planned.unit.flatMap((write) => (write.op === "add" ? write.items : [])),
      );
      return { ...added, ids: added.ids.slice(0, planned.saved), sequences: added.sequences.slice(0, planned.saved) };
    }
  }

  /**
   * Plans the turn. A turn that was already committed may no longer be plannable, because its edits can depend on text
   * that they have changed.
   */
  async #planned(place: ParsedScope, writes: readonly BufferedWrite[], once: OnceWrite | undefined) {
    try {
      return await turnUnit(place, writes, this.blocks, this.#counters, this.#parts.now());
    } catch (error) {
      if (!once || !(await this.#first(once))) throw error;
      const saved = writes.filter(({ op }) => op === "save_message").length;
      return { unit: [], messages: 0, bytes: 0, saved, blocks: [] };
    }
  }

  close(): Promise<void> {
    return this.#counters.close();
  }

  /** The result of the call with this key, if it was made before. */
  async #first(once: OnceWrite): Promise<readonly Done[] | undefined> {
    const { repeated, done } = await this.#parts.writes.writeUnit("once", [], once);
    return repeated ? done : undefined;
  }

  async #writeLedger(unit: readonly LedgerWrite[], { space, session }: KeyPlace, once: OnceWrite | undefined) {
    const lane = `ledger ${JSON.stringify([space, session])}`;
    const { repeated, done } = await this.#parts.writes.writeUnit(lane, unit, once);
    const [ledger] = done;
    return { op: "ledger" as const, ...(ledger?.op === "ledger" && ledger), repeated };
  }
}

const isToBePlannedAnew = ([result]: readonly UnitResult[], { blocks }: TurnUnit): boolean =>
  result?.ok === false && isOvertaken(result.error, blocks);
