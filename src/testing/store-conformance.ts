/**
 * The Store contract as tests: one suite that every store must pass.
 *
 * Each test gets a new, empty store. The suite is as lenient as the contract, for instance about the order of `get` and
 * of the registry, and the size of a forget's slices.
 */
import { describe, it } from "vitest";
import { actors } from "./conformance/actors.js";
import { adds } from "./conformance/adds.js";
import { blockLives } from "./conformance/block-lives.js";
import { blocks } from "./conformance/blocks.js";
import { changes } from "./conformance/changes.js";
import type { Check, CheckPersistent, OpenedStore } from "./conformance/check.js";
import { commits } from "./conformance/commits.js";
import { counts } from "./conformance/counts.js";
import { embedding } from "./conformance/embedding.js";
import { existing } from "./conformance/existing.js";
import { expiry } from "./conformance/expiry.js";
import { factExpiry } from "./conformance/fact-expiry.js";
import { factForgets } from "./conformance/fact-forgets.js";
import { factItems } from "./conformance/fact-items.js";
import { factModel } from "./conformance/fact-model.js";
import { factSources } from "./conformance/fact-sources.js";
import { facts } from "./conformance/facts.js";
import { filters } from "./conformance/filters.js";
import { forgets } from "./conformance/forgets.js";
import { isolation } from "./conformance/isolation.js";
import { keyModel } from "./conformance/key-model.js";
import { keys } from "./conformance/keys.js";
import { lasting } from "./conformance/lasting.js";
import { leases } from "./conformance/leases.js";
import { ledger } from "./conformance/ledger.js";
import { lists } from "./conformance/lists.js";
import { meaning } from "./conformance/meaning.js";
import { neighbours } from "./conformance/neighbours.js";
import { outbox } from "./conformance/outbox.js";
import { parking } from "./conformance/parking.js";
import { pending } from "./conformance/pending.js";
import { points } from "./conformance/points.js";
import { Probe } from "./conformance/probe.js";
import { promotions } from "./conformance/promotions.js";
import { registry } from "./conformance/registry.js";
import { reindexing } from "./conformance/reindexing.js";
import { reopening } from "./conformance/reopening.js";
import { restoring } from "./conformance/restoring.js";
import { retries } from "./conformance/retries.js";
import { scored } from "./conformance/scored.js";
import { unicode } from "./conformance/unicode.js";
import { updates } from "./conformance/updates.js";
import { words } from "./conformance/words.js";

export type { OpenedStore } from "./conformance/check.js";

export interface StoreConformance {
  readonly name: string;
  /** Opens an empty store that shares nothing with any other. */
  readonly open: () => Promise<OpenedStore>;
  /** Opens one that persists, for the checks that reopen it; `open` if left out. */
  readonly openPersistent?: () => Promise<OpenedStore>;
}

/** Registers the suite with vitest. Call it in a test file. */
export function storeConformance({ name, open, openPersistent = open }: StoreConformance): void {
  const check: Check = (title, body) => {
    it(title, async () => {
      const opened = await open();
      try {
        await body(new Probe(opened.store));
      } finally {
        await opened.close();
      }
    });
  };
  const checkPersistent: CheckPersistent = (title, body) => {
    it(title, async (context) => {
      const opened = await openPersistent();
      try {
        if (!opened.reopen) context.skip("the store does not persist: opening it gives no `reopen`");
        else await body(new Probe(opened.store), opened.reopen);
      } finally {
        await opened.close();
      }
    });
  };
  describe(`${name} keeps the Store contract`, () => {
    describe("commits", () => commits(check));
    describe("counts", () => counts(check));
    describe("adds", () => adds(check));
    describe("adds of existing ids", () => existing(check));
    describe("idempotent retries", () => retries(check));
    describe("updates", () => updates(check));
    describe("forgets", () => forgets(check));
    describe("expiry and retention", () => expiry(check));
    describe("filters", () => filters(check));
    describe("lists and pages", () => lists(check));
    describe("word search", () => words(check));
    describe("words of neighbours", () => neighbours(check));
    describe("what ranking needs", () => scored(check));
    describe("isolation", () => isolation(check));
    describe("any text", () => unicode(check));
    describe("the registry", () => registry(check));
    describe("changes", () => changes(check, checkPersistent));
    describe("items that wait to be embedded", () => pending(check));
    describe("leases", () => leases(check));
    describe("vectors", () => embedding(check));
    describe("search by vectors", () => meaning(check));
    describe("parking", () => parking(check));
    describe("the outbox", () => outbox(check));
    describe("re-embedding for another model", () => reindexing(check, checkPersistent));
    describe("facts", () => facts(check));
    describe("facts among the rest", () => factItems(check, checkPersistent));
    describe("what facts rest on", () => factSources(check));
    describe("expiry of facts", () => factExpiry(check));
    describe("facts and forgetting", () => factForgets(check));
    describe("facts as a plain model has them", () => factModel(check));
    describe("points", () => points(check, checkPersistent));
    describe("promotions", () => promotions(check, checkPersistent));
    describe("actors", () => actors(check));
    describe("indexing and other handles", () => lasting(check, checkPersistent));
    describe("what was kept elsewhere", () => restoring(check));
    describe("blocks", () => blocks(check));
    describe("blocks in the course of time", () => blockLives(check, checkPersistent));
    describe("the injection ledger", () => ledger(check, checkPersistent));
    describe("API keys", () => keys(check, checkPersistent));
    describe("API keys as a plain model has them", () => keyModel(check));
    describe("reopening", () => reopening(check, checkPersistent));
  });
}
