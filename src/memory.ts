/** Memory: an open file as callers hold it. */
import { mirrorBytes } from "./buffers/query/budget.js";
import { loadConfig } from "./config.js";
import { chooseEmbedder } from "./embedding/choose.js";
import { chooseExtractor } from "./extraction/choose.js";
import type { SessionOptions } from "./input/grants.js";
import { IN_MEMORY, type Options, type ResolvedOptions } from "./options.js";
import { Entries, Sessions } from "./registry.js";
import type { CloseReport, FlushReport, ServiceStats } from "./reports.js";
import { BufferService } from "./service.js";
import { Session } from "./session.js";
import { MemoryStore } from "./stores/memory/memory-store.js";
import { chooseIndex } from "./stores/qdrant/choose.js";
import { SqliteStore } from "./stores/sqlite/store.js";
import type { ForgetReceipt, Scope } from "./types.js";

export interface OpenOptions extends Options {
  /** A YAML file with the same options; those given in code win. */
  readonly config?: string;
}

/** Opens a memory on one file, which is made if it does not exist. Any number of processes may open the same file. */
export async function openMemory(options: OpenOptions = {}): Promise<Memory> {
  const { config, ...code } = options;
  const resolved = loadConfig({ file: config, env: process.env, code });
  const embedder = resolved.embedder ?? chooseEmbedder({ ...resolved.embedding, model: embeddingModel(resolved) });
  const extractor = resolved.extractor ?? chooseExtractor(resolved.extraction, resolved.clock);
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
  const service = new BufferService(store, resolved, { embedder, index, extractor });
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

  /**
   * A handle on one scope. Makes nothing; user, agent and session are registered by the first add. It may read the spaces
   * that the scope names and those that are granted, and writes to one: its own.
   */
  session(scope: Scope, options?: SessionOptions): Session {
    return new Session(this.service, scope, options);
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
