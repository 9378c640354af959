/** Shorthands for facts and promotions on a store under test. */
import { expect } from "vitest";
import type { EndFactWrite, Fact, FactsRequest, PutFactDone, PutFactWrite } from "../../stores/facts.js";
import type { PromoteWrite, PromotionsRequest } from "../../stores/promotions.js";
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { Probe } from "./probe.js";

export type FactDraft = Partial<Omit<PutFactWrite, "op" | "id">>;
export type FactQuery = Partial<Omit<FactsRequest, "spaces">>;

export class FactProbe {
  readonly probe: Probe;
  readonly space: SpaceRef;

  constructor(probe: Probe, space: SpaceRef) {
    this.probe = probe;
    this.space = space;
  }

  /** Its content is "content of <id>" by default. */
  putting(id: string, draft: FactDraft = {}): PutFactWrite {
    return {
      op: "put_fact",
      space: this.space,
      id,
      category: "place",
      content: `content of ${id}`,
      confidence: 0.5,
      source: {},
      from: this.probe.now,
      supersedes: [],
      force: false,
      ...draft,
    };
  }

  ending(id: string, at = this.probe.now, as: EndFactWrite["as"] = "ended"): EndFactWrite {
    return { op: "end_fact", space: this.space, id, as, at };
  }

  async put(id: string, draft?: FactDraft): Promise<PutFactDone> {
    const [done] = await this.probe.unit(this.putting(id, draft));
    if (done?.op !== "put_fact") throw new Error("a put of a fact was answered by something else");
    const stored = await this.fact(id);
    expect(stored, "the answer is what is stored").toEqual(done.fact);
    return done;
  }

  async end(id: string, at?: number, as?: EndFactWrite["as"]): Promise<Fact> {
    const [done] = await this.probe.unit(this.ending(id, at, as));
    if (done?.op !== "end_fact") throw new Error("an end of a fact was answered by something else");
    expect(await this.fact(id), "the answer is what is stored").toEqual(done.fact);
    return done.fact;
  }

  async query(query: FactQuery = {}): Promise<readonly Fact[]> {
    const request = { limit: 1000, now: this.probe.now, ...query, spaces: [this.space] };
    const { items, next } = await this.probe.store.facts(request);
    expect(next).toBeUndefined();
    return items;
  }

  async ids(query?: FactQuery): Promise<readonly string[]> {
    return (await this.query(query)).map(({ id }) => id);
  }

  /** In any state. */
  async find(id: string): Promise<Fact | undefined> {
    const found = await this.query({ ids: [id], states: ["holds", "ended", "retracted"] });
    expect(found.length).toBeLessThan(2);
    return found[0];
  }

  async fact(id: string): Promise<Fact> {
    const found = await this.find(id);
    if (!found) throw new Error(`there is no fact ${id}`);
    return found;
  }

  /**
   * Forgets the whole target, slice by slice; returns the combined results. A later slice may remove a fact that an
   * earlier one left.
   */
  async forget(target: ForgetWrite["target"]): Promise<ForgetDone> {
    let sum: ForgetDone = NOTHING_FORGOTTEN;
    for (let slices = 1; ; slices++) {
      const [done] = await this.probe.unit({ op: "forget", target });
      if (done?.op !== "forget") throw new Error("a forget was answered by something else");
      const isSpace = "entry" in target && !("session" in target);
      if (isSpace) expect(done.factsLeft, "of a space nothing stays").toEqual([]);
      sum = {
        op: "forget",
        items: sum.items + done.items,
        sessions: sum.sessions + done.sessions,
        entries: sum.entries + done.entries,
        blocks: sum.blocks + done.blocks,
        facts: sum.facts + done.facts,
        points: sum.points + done.points,
        factsLeft: [...sum.factsLeft, ...done.factsLeft],
        copiesLeft: sum.copiesLeft + done.copiesLeft,
        keysLeft: sum.keysLeft || done.keysLeft,
        remaining: false,
      };
      if (!done.remaining) return { ...sum, factsLeft: await this.#stillThere(sum.factsLeft) };
      expect(slices, "a forget comes to its end").toBeLessThan(10_000);
    }
  }

  async #stillThere(ids: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all([...new Set(ids)].map((id) => this.find(id)));
    return found.flatMap((fact) => fact?.id ?? []);
  }

  forgetIds(...ids: string[]): Promise<ForgetDone> {
    return this.forget({ space: this.space, ids });
  }

  promoting(ids: readonly string[], to: SpaceRef, more: Partial<PromoteWrite> = {}): PromoteWrite {
    return { op: "promote", from: this.space, to, ids, reason: "of use to all", ...more };
  }

  async promote(ids: readonly string[], to: SpaceRef, more?: Partial<PromoteWrite>): Promise<void> {
    expect(await this.probe.unit(this.promoting(ids, to, more))).toEqual([{ op: "promote", ids }]);
  }

  async promotions(request: Partial<PromotionsRequest> = {}) {
    return (await this.probe.store.promotions({ space: this.space, limit: 100, ...request })).items;
  }
}
