/** A process with its own memory on a file that it shares with others. It does what its parent orders. */
import {
  type Added,
  type Context,
  type ContextOptions,
  type FlushReport,
  HoldfastError,
  type Item,
  type Memory,
  type NewFact,
  type NewMessage,
  type OpenOptions,
  openMemory,
  type Scope,
  type WriteOptions,
} from "holdfast";
import { onOrder, report } from "../support/child.js";
import { openRaw, type RawDatabase } from "../support/raw.js";
import { FileIndex, type Hold } from "./file-index.js";
import { FlawedEmbedder } from "./flawed-embedder.js";
import { OtherClock, type OtherTime } from "./other-clock.js";
import type { Order, Report } from "./peer-process.js";
import { type Sight, Storm, type StormLog, type StormPlan, see, view } from "./storm.js";

/** What this process has done with what waits to be embedded, and what the file says of it. */
export interface Progress {
  /** Of the file. */
  readonly pending: number;
  readonly parked: number;
  readonly embedded: number;
  /** Of this process: leases held, items embedded but not written, items written, items given up. */
  readonly leases: number;
  readonly queued: number;
  readonly written: number;
  readonly dropped: number;
  /** Changes that the external index has yet to acknowledge, and calls that it holds in this process. */
  readonly unsent: number;
  readonly heldByIndex: number;
}

export class Peer {
  #memory: Memory | undefined;
  #lock: RawDatabase | undefined;
  readonly #embedder = new FlawedEmbedder();
  #clock = new OtherClock();
  #index: FileIndex | undefined;

  async open(options: OpenOptions): Promise<void> {
    this.#memory = await openMemory(options);
  }

  /** Opens it with an embedder, and a clock that may differ from the others'. */
  async openEmbedding(options: OpenOptions, time: OtherTime = {}): Promise<void> {
    this.#clock = new OtherClock(time);
    await this.open({ ...options, embedder: this.#embedder, clock: this.#clock });
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  setTimeOfDay(shiftMs: number): void {
    this.#clock.shiftMs = shiftMs;
  }

  /** Opens it with an embedder and an external index, which keeps its log there. */
  async openIndexed(options: OpenOptions, log: string, hold: Hold): Promise<void> {
    this.#index = new FileIndex(log, hold);
    await this.open({ ...options, embedder: this.#embedder, vectorIndex: this.#index });
  }

  /** From now on the embedder fails on texts with this word; without one, on none. */
  failOn(word?: string): void {
    this.#embedder.failsOn = word;
  }

  async progress(): Promise<Progress> {
    const { store, meaning } = await this.#opened.stats();
    const { pending, parked, embedded, unsent } = store;
    const { itemCount: queued = 0, itemsWritten: written = 0, itemsDropped: dropped = 0 } = meaning?.hybrid ?? {};
    const [leases, heldByIndex] = [meaning?.leases ?? 0, this.#index?.held ?? 0];
    return { pending, parked, embedded, leases, queued, written, dropped, unsent, heldByIndex };
  }

  flush(): Promise<FlushReport> {
    return this.#opened.flush();
  }

  /** Adds one message after the other, so many at a time. */
  async addEach(scope: Scope, contents: readonly string[], atOnce: number): Promise<void> {
    const session = this.#opened.session(scope);
    const left = [...contents];
    const next = async (): Promise<void> => {
      for (let content = left.shift(); content !== undefined; content = left.shift()) {
        await session.add([{ role: "user", content }]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }

  update(scope: Scope, id: string, content: string): Promise<number> {
    return this.#opened.session(scope).update(id, { content });
  }

  async delete(scope: Scope, ids: readonly string[]): Promise<void> {
    await this.#opened.session(scope).delete(ids);
  }

  add(scope: Scope, messages: readonly NewMessage[], options?: WriteOptions): Promise<Added> {
    return this.#opened.session(scope).add(messages, options);
  }

  /** Answers with the version that the edit has made. */
  async append(scope: Scope, block: string, text: string, options?: WriteOptions): Promise<number> {
    return (await this.#opened.session(scope).blocks.edit(block, { append: text }, options)).version;
  }

  async block(scope: Scope, name: string): Promise<string | undefined> {
    return (await this.#opened.session(scope).blocks.get(name))?.content;
  }

  async createBlock(scope: Scope, name: string): Promise<void> {
    await this.#opened.session(scope).blocks.create({ name });
  }

  async list(scope: Scope): Promise<readonly Item[]> {
    return (await this.#opened.session(scope).list({ order: "asc", limit: 1000 })).items;
  }

  async query(scope: Scope, text: string, topK?: number): Promise<readonly string[]> {
    const hits = await this.#opened.session(scope).query(text, topK === undefined ? {} : { topK });
    return hits.map(({ content }) => content);
  }

  context(scope: Scope, options: ContextOptions): Promise<Context> {
    return this.#opened.session(scope).context({ deadlineMs: 600_000, ...options }); // a busy machine may be slow
  }

  /** Answers with the fact's id. */
  async upsertFact(scope: Scope, fact: NewFact): Promise<string> {
    return (await this.#opened.session(scope).facts.upsert(fact)).fact.id;
  }

  /** Takes the file's write lock with the bare driver, as a foreign program would, and keeps it. */
  lock(path: string): void {
    this.#lock = openRaw(path);
    this.#lock.exec("BEGIN IMMEDIATE");
  }

  unlock(): void {
    this.#lock?.exec("COMMIT");
  }

  storm(plan: StormPlan): Promise<StormLog> {
    return new Storm(this.#opened, plan, ask<string | undefined>).run();
  }

  /** What another process says must be seen here; undefined if it is, else what is wrong. */
  see(sight: Sight): Promise<string | undefined> {
    return see(this.#opened, sight);
  }

  view(): Promise<string> {
    return view(this.#opened);
  }

  get #opened(): Memory {
    if (!this.#memory) throw new Error("open it first");
    return this.#memory;
  }
}

const tell = (message: Report): void => report(message);

/** Questions to the parent that wait for their answers. */
const asked = new Map<number, (value: never) => void>();
let questions = 0;

function ask<T>(question: unknown): Promise<T> {
  const number = ++questions;
  return new Promise<T>((resolve) => {
    asked.set(number, resolve as (value: never) => void);
    tell({ ask: number, question });
  });
}

const peer = new Peer();

onOrder<Order>(async (order) => {
  if ("reply" in order) {
    asked.get(order.reply)?.(order.value as never);
    asked.delete(order.reply);
    return;
  }
  try {
    const value: unknown = await (peer[order.method] as (...args: readonly unknown[]) => unknown)(...order.args);
    tell({ answer: order.call, value });
  } catch (error) {
    const code = error instanceof HoldfastError ? error.code : "unexpected";
    tell({ answer: order.call, error: { code, message: String(error) } });
  }
});
