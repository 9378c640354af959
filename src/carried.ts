/**
 * What agents edit and carry beside what they hear: blocks, facts, turns, context, promotions. It puts the parts together
 * and gives them the two paths: all that they write goes through the WriteBuffer, all that they search through the query.
 */
import { isOvertaken, MemoryBlocks } from "./blocks/memory-blocks.js";
import { mergeAdded } from "./buffers/answers.js";
import type { Turn } from "./buffers/turn.js";
import { type TurnUnit, turnUnit, withId } from "./buffers/turn-unit.js";
import { bytesOfUnit } from "./buffers/units.js";
import { laneOf, NOTHING_ADDED, type UnitResult, type WriteBuffer } from "./buffers/write.js";
import type { Context } from "./context/context.js";
import { ContextPath } from "./context/context-path.js";
import { HoldfastError } from "./errors.js";
import type { Extractor } from "./extraction/extractor.js";
import { MemoryFacts } from "./facts/memory-facts.js";
import { parseContext } from "./input/context.js";
import { parsePage } from "./input/page.js";
import { type PromoteOptions, type PromotionsOptions, parsePromotion, parsePromotions } from "./input/promotion.js";
import type { QueryOptions } from "./input/query.js";
import { invalid } from "./input/refusal.js";
import type { ParsedScope } from "./input/scope.js";
import type { ResolvedOptions } from "./options.js";
import type { Ledger } from "./stores/ledger.js";
import type { Promotion } from "./stores/promotions.js";
import type { Done, ForgetWrite, Store, Unit } from "./stores/store.js";
import { Counters } from "./tokens/counters.js";
import type { Added, ForgetReceipt, Hits, Page, SpaceRef } from "./types.js";

export interface CarriedParts {
  readonly store: Store;
  readonly options: ResolvedOptions;
  readonly writes: WriteBuffer;
  readonly extractor?: Extractor | undefined;
  /** The time of day; refuses when the memory is closed. */
  readonly now: () => number;
  readonly query: (place: ParsedScope, text: string, options: QueryOptions) => Promise<Hits>;
  readonly forget: (target: ForgetWrite["target"]) => Promise<ForgetReceipt>;
  readonly deleteItems: (space: SpaceRef, ids: readonly string[]) => Promise<ForgetReceipt>;
  /** Items were added to a space outside any session, or to a session: they wait to be embedded. */
  readonly added: (space: SpaceRef, session?: string) => Promise<void>;
}

/** Imports keep their order, whatever session they write to. */
const IMPORTS = "imports";
/** How often a turn is planned anew because a block that it edits was written meanwhile. */
const ATTEMPTS = 1_000;

export class Carried {
  readonly blocks: MemoryBlocks;
  readonly facts: MemoryFacts;
  readonly #parts: CarriedParts;
  readonly #counters: Counters;
  readonly #contexts: ContextPath;

  constructor(parts: CarriedParts) {
    const { store, options, now, query, added, extractor } = parts;
    this.#parts = parts;
    this.#counters = new Counters(options.clock);
    const write = (lane: string, unit: Unit) => this.#write(lane, unit);
    this.blocks = new MemoryBlocks({
      store,
      counters: this.#counters,
      now,
      write,
      forget: (space, id) => parts.forget({ space, block: id }),
      forgetItems: parts.deleteItems,
      added,
    });
    this.facts = new MemoryFacts({ store, now, query, write, changed: added, extractor });
    this.#contexts = new ContextPath({
      store,
      query,
      facts: (place, text, { limit, ...search }) => this.facts.find(place, text, { ...search, topK: limit }),
      write: async (ledger) => {
        const [done] = await write(`ledger ${JSON.stringify([ledger.space, ledger.session])}`, [ledger]);
        return done?.op === "ledger" ? done : { op: "ledger" };
      },
      counters: this.#counters,
      counter: options.buffer.roundBuffer.tokenModel,
      clock: options.clock,
    });
  }

  context(place: ParsedScope, options: unknown): Promise<Context> {
    this.#parts.now();
    return this.#contexts.context(place, parseContext(options, place));
  }

  windowReset(place: ParsedScope): Promise<void> {
    this.#parts.now();
    return this.#contexts.windowReset(place);
  }

  async ledger(place: ParsedScope): Promise<Ledger> {
    this.#parts.now();
    if (place.session === undefined) throw invalid("scope", "names no session", "a window is that of one session");
    return this.#parts.store.ledger(place.space, place.session);
  }

  /** Commits what a turn has gathered, in one transaction. If that fails, the turn keeps all of it for another try. */
  async commit(place: ParsedScope, turn: Turn): Promise<Added> {
    const writes = turn.drain().map((write) => withId(write, this.#parts.now()));
    try {
      for (let attempt = 1; ; attempt++) {
        const planned = await turnUnit(place, writes, this.blocks, this.#counters, this.#parts.now());
        if (!planned) return NOTHING_ADDED;
        const { messages, bytes, unit } = planned;
        const results = await this.#parts.writes.write({
          lane: laneOf(place),
          units: [{ unit, messages, bytes }],
          stepwise: true,
        });
        if (attempt < ATTEMPTS && isToBePlannedAnew(results, planned)) continue;
        const added = mergeAdded(results, 1);
        await this.#parts.added(place.space); // facts and overflow belong to no session
        return { ...added, ids: added.ids.slice(0, planned.saved), sequences: added.sequences.slice(0, planned.saved) };
      }
    } catch (error) {
      turn.restore(writes);
      throw error;
    }
  }

  /** Copies items into another space, which is logged there. Answers with their ids. */
  async promote(place: ParsedScope, ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    this.#parts.now();
    const write = parsePromotion(place, ids, options);
    const [done] = await this.#write(`promote ${JSON.stringify(write.to)}`, [write]);
    await this.#parts.added(write.to);
    return done?.op === "promote" ? done.ids : [];
  }

  /** What was promoted into the scope's space, newest first. */
  promotions({ space }: ParsedScope, options: PromotionsOptions): Promise<Page<Promotion>> {
    this.#parts.now();
    return this.#parts.store.promotions({ space, ...parsePage(parsePromotions(options)) });
  }

  close(): Promise<void> {
    return this.#counters.close();
  }

  /** Commits units in order, many at once, each all or nothing. What they add waits to be embedded. */
  async writeAll(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    this.#parts.now();
    const sized = units.map((unit) => ({ unit, messages: messagesOf(unit), bytes: bytesOfUnit(unit) }));
    const results = await this.#parts.writes.write({ lane: IMPORTS, units: sized, stepwise: false });
    const lanes = new Map<string, () => Promise<void>>();
    for (const write of units.flat()) {
      if (write.op !== "add" && write.op !== "restore_fact") continue;
      const { space, session } = { session: undefined, ...write };
      lanes.set(JSON.stringify([space, session]), () => this.#parts.added(space, session));
    }
    for (const added of lanes.values()) await added();
    return results;
  }

  async #write(lane: string, unit: Unit): Promise<readonly Done[]> {
    const units = [{ unit, messages: unit.length, bytes: bytesOfUnit(unit) }];
    const [result] = await this.#parts.writes.write({ lane, units, stepwise: true });
    if (!result?.ok) throw result?.error ?? new HoldfastError("store_failed", "the store gave no answer");
    return result.done;
  }
}

const messagesOf = (unit: Unit): number =>
  unit.reduce((sum, write) => sum + (write.op === "add" ? write.items.length : 1), 0);

const isToBePlannedAnew = ([result]: readonly UnitResult[], { blocks }: TurnUnit): boolean =>
  result?.ok === false && isOvertaken(result.error, blocks);
