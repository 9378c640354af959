/** The facts of a scope's space, through a server. */
import type { Extraction, ExtractOptions } from "../facts/extraction-run.js";
import type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "../facts/fact-input.js";
import type { FactOutcome } from "../facts/memory-facts.js";
import type { Facts } from "../facts/session-facts.js";
import { parseWriteOptions, splitKey, type WriteOptions } from "../input/call.js";
import type { Grants } from "../input/grants.js";
import { parseIdentity } from "../input/identity.js";
import type { Fact } from "../stores/facts.js";
import type { Page, Scope } from "../types.js";
import { withTimes } from "./outgoing.js";
import type { Transport } from "./transport.js";

export class RemoteFacts implements Facts {
  readonly #transport: Transport;
  readonly #scope: Scope;
  readonly #grants: Grants;

  constructor(transport: Transport, scope: Scope, grants: Grants) {
    this.#transport = transport;
    this.#scope = scope;
    this.#grants = grants;
  }

  async upsert(fact: NewFact, options?: WriteOptions): Promise<FactOutcome> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("upsertFact", { scope: this.#scope, body: withTimes(fact, "fact"), idempotencyKey });
  }

  async retract(id: string, options?: WriteOptions): Promise<Fact> {
    return this.#transport.call("retractFact", { ...this.#of(id), idempotencyKey: parseWriteOptions(options) });
  }

  async end(id: string, options: EndOptions & WriteOptions = {}): Promise<Fact> {
    const { key, rest } = splitKey(options);
    return this.#transport.call("endFact", { ...this.#of(id), body: withTimes(rest), idempotencyKey: key });
  }

  async get(ids: readonly string[]): Promise<readonly Fact[]> {
    return this.#transport.call("getFacts", { scope: this.#scope, body: { ids } });
  }

  async list(options: FactsOptions = {}): Promise<Page<Fact>> {
    this.#grants.check(options?.spaces);
    return this.#transport.call("listFacts", { scope: this.#scope, body: withTimes(options) });
  }

  async query(text: string, options: FactQueryOptions = {}): Promise<readonly Fact[]> {
    this.#grants.check(options?.spaces);
    return this.#transport.call("queryFacts", { scope: this.#scope, body: { ...withTimes(options), query: text } });
  }

  async extract(options: ExtractOptions = {}): Promise<Extraction> {
    return this.#transport.call("extractFacts", { scope: this.#scope, body: options });
  }

  #of(id: string) {
    return { scope: this.#scope, params: { id: parseIdentity(id, "id") } };
  }
}
