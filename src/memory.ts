/** Memory and Session: the service with a scope bound to it, as callers hold them. */

import { mirrorBytes } from "./buffers/query/budget.js";
import { Turn } from "./buffers/turn.js";
import { loadConfig } from "./config.js";
import { chooseEmbedder } from "./embedding/choose.js";
import type { AddOptions, UpdateOptions } from "./input/call.js";
import type { ListOptions } from "./input/list.js";
import type { PageOptions } from "./input/page.js";
import type { QueryOptions } from "./input/query.js";
import { parseScope } from "./input/scope.js";
import { IN_MEMORY, type Options, type ResolvedOptions } from "./options.js";
import { Entries, Sessions } from "./registry.js";
import { BufferService, type CloseReport, type FlushReport, type ServiceStats } from "./service.js";
import type { ParkedItem } from "./stores/indexing.js";
import { MemoryStore } from "./stores/memory/memory-store.js";
import { chooseIndex } from "./stores/qdrant/choose.js";
import { SqliteStore } from "./stores/sqlite/store.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "./types.js";

export interface OpenOptions extends Options {
  /** A YAML file with the same options; those given in code win. */
  readonly config?: string;
}

/** Opens a memory on one file, which is made if it does not exist. Any number of processes may open the same file. */
export async function openMemory(options: OpenOptions = {}): Promise<Memory> {
  const { config, ...code } = options;
  const resolved = loadConfig({ file: config, env: process.env, code });
  const embedder = resolved.embedder ?? chooseEmbedder({ ...resolved.embedding, model: embeddingModel(resolved) });
  const index = resolved.vectorIndex ?? chooseIndex(resolved.qdrant);
  const store =
    resolved.path === IN_MEMORY
      ? new MemoryStore()
      : await SqliteStore.open({
          path: resolved.path,
          ...resolved.store,
          mirrorBytes: mirrorBytes(resolved.buffer.query.maxBytes),
          warm: embedder ? ["reader", "vectors"] : ["reader"],
        });
  const service = new BufferService(store, resolved, { embedder, index });
  try {
    await service.start();
  } catch (error) {
    await service.close();
    throw error;
  }
  return new Memory(service);
}

const embeddingModel = ({ buffer }: ResolvedOptions): string => buffer.hybridBuffer.embeddingModel;

export class Memory {
  readonly service: BufferService;
  readonly users: Entries;
  readonly agents: Entries;
  readonly teams: Entries;
  readonly sessions: Sessions;

  constructor(service: BufferService) {
    this.service = service;
    this.users = new Entries(service, "user");
    this.agents = new Entries(service, "agent");
    this.teams = new Entries(service, "team");
    this.sessions = new Sessions(service);
  }

  /** A handle on one scope. Makes nothing; user, agent and session are registered by the first add. */
  session(scope: Scope): Session {
    return new Session(this.service, scope);
  }

  /** Forgets a whole user, agent or team, or one session: items, words, registry entry, bytes. */
  forget(scope: Scope): Promise<ForgetReceipt> {
    return this.service.forget(scope);
  }

  /** Resolves when all that was added is embedded and written; says what could not be. */
  flush(): Promise<FlushReport> {
    return this.service.flush();
  }

  stats(): Promise<ServiceStats> {
    return this.service.stats();
  }

  close(): Promise<CloseReport> {
    return this.service.close();
  }
}

export class Session {
  readonly scope: Scope;
  readonly #service: BufferService;

  constructor(service: BufferService, scope: Scope) {
    parseScope(scope);
    this.#service = service;
    this.scope = Object.freeze({ ...scope });
  }

  /** Adds messages, in order. When it resolves they are durable and searchable. */
  add(messages: readonly NewMessage[], options?: AddOptions): Promise<Added> {
    return this.#service.add(this.scope, messages, options);
  }

  addBatch(rounds: readonly (readonly NewMessage[])[], options?: AddOptions): Promise<readonly Added[]> {
    return this.#service.addBatch(this.scope, rounds, options);
  }

  /** Adds knowledge and other items that nobody said. */
  addItems(items: readonly NewItem[], options?: AddOptions): Promise<Added> {
    return this.#service.addItems(this.scope, items, options);
  }

  /** Resolves when all of this session is embedded and written; says what could not be. */
  flush(): Promise<FlushReport> {
    return this.#service.flush(this.scope);
  }

  /** Items of this space that could not be embedded, with the reason. */
  parked(options?: PageOptions): Promise<Page<ParkedItem>> {
    return this.#service.parked(this.scope, options);
  }

  /** Tries again to embed parked items: these, or all of the space. */
  replay(ids?: readonly string[]): Promise<number> {
    return this.#service.replay(this.scope, ids);
  }

  query(text: string, options?: QueryOptions): Promise<Hits> {
    return this.#service.query(this.scope, text, options);
  }

  get(ids: readonly string[]): Promise<readonly Item[]> {
    return this.#service.get(this.scope, ids);
  }

  list(options?: ListOptions): Promise<Page<Item>> {
    return this.#service.list(this.scope, options);
  }

  update(id: string, patch: ItemPatch, options?: UpdateOptions): Promise<number> {
    return this.#service.update(this.scope, id, patch, options);
  }

  delete(ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#service.delete(this.scope, ids);
  }

  /** Forgets this session with all its items; the whole space if the scope names no session. */
  forget(): Promise<ForgetReceipt> {
    return this.#service.forget(this.scope);
  }

  /** A turn to gather writes in; `commit` writes them in one transaction. */
  turn(capacity?: number): Turn {
    return new Turn(capacity);
  }

  commit(turn: Turn): Promise<Added> {
    return this.#service.commit(this.scope, turn);
  }
}
