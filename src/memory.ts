/** Memory: an open file as callers hold it. */
import { mirrorBytes, rosterBytes } from "./buffers/query/budget.js";
import { readAhead } from "./buffers/query/reading.js";
import { loadConfig } from "./config.js";
import { chooseEmbedder } from "./embedding/choose.js";
import type { MemoryEvents } from "./events/events.js";
import { chooseExtractor } from "./extraction/choose.js";
import type { SessionOptions } from "./input/grants.js";
import { ApiKeys } from "./keys/api-keys.js";
import { IN_MEMORY, type Options, type ResolvedOptions } from "./options.js";
import { type Entries, LocalEntries, LocalSessions, type Sessions } from "./registry.js";
import type { ReindexReport } from "./reindexing/reindex-run.js";
import type { ReindexOptions } from "./reindexing/reindexing.js";
import type { CloseReport, FlushReport, ServiceStats } from "./reports.js";
import { BufferService } from "./service.js";
import { LocalSession, type Session } from "./session.js";
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
  return openWithFallback(options, {});
}

/** The same where `fallback` holds instead of the options' own defaults: for programs that know better what they are for. */
export async function openWithFallback(options: OpenOptions, fallback: Options): Promise<Memory> {
  const { config, ...code } = options;
  const resolved = loadConfig({ file: config, env: process.env, code, fallback });
  const embedder = resolved.embedder ?? chooseEmbedder({ ...resolved.embedding, model: embeddingModel(resolved) });
  const extractor = resolved.extractor ?? chooseExtractor(resolved.extraction, resolved.clock);
  const index = resolved.vectorIndex ?? chooseIndex(resolved.qdrant);
  const store = resolved.path === IN_MEMORY ? new MemoryStore() : await openStore(resolved, embedder !== undefined);
  const service = new BufferService(store, resolved, { embedder, index, extractor });
  try {
    await service.start();
  } catch (error) {
    await service.close();
    throw error;
  }
  return new Memory(service);
}

async function openStore(resolved: ResolvedOptions, hasMeaning: boolean): Promise<SqliteStore> {
  const { path, store, buffer } = resolved;
  const { maxBytes } = buffer.query;
  const warm = warmed(resolved, hasMeaning);
  const bytes = { mirrorBytes: mirrorBytes(maxBytes), rosterBytes: rosterBytes(maxBytes) };
  const opening = SqliteStore.open({ path, ...store, ...bytes, warm });
  if (warm.length > 0) readAhead(); // here, while threads start
  return opening;
}

/**
 * What is started before it is asked. Whoever does not embed eagerly wants to stay small until there is a question; who
 * asks by meaning waits longest for the vectors, and any other thread would slow that down.
 */
function warmed({ buffer }: ResolvedOptions, hasMeaning: boolean): readonly ("reader" | "vectors")[] {
  if (hasMeaning && !buffer.roundBuffer.eager) return [];
  return hasMeaning ? ["vectors"] : ["reader"];
}

const embeddingModel = ({ buffer }: ResolvedOptions): string => buffer.hybridBuffer.embeddingModel;

/** What callers may do with a memory wherever it is: in this process, or behind a server (`connect`). */
export type MemoryHandle = Pick<
  Memory,
  "users" | "agents" | "teams" | "sessions" | "session" | "forget" | "flush" | "stats"
>;

export class Memory {
  readonly service: BufferService;
  readonly users: Entries;
  readonly agents: Entries;
  readonly teams: Entries;
  readonly sessions: Sessions;
  readonly keys: ApiKeys;
  /** What moves through the buffers, to listen to. */
  readonly events: MemoryEvents;

  constructor(service: BufferService) {
    this.service = service;
    this.events = service.events;
    this.users = new LocalEntries(service, "user");
    this.agents = new LocalEntries(service, "agent");
    this.teams = new LocalEntries(service, "team");
    this.sessions = new LocalSessions(service);
    this.keys = new ApiKeys({
      store: service.store,
      write: (write) => service.write(write),
      now: () => service.clock.now(),
    });
  }

  /**
   * A handle on one scope. Makes nothing; user, agent and session are registered by the first add. It may read the spaces
   * that the scope names and those that are granted, and writes to one: its own.
   */
  session(scope: Scope, options?: SessionOptions): Session {
    return new LocalSession(this.service, scope, options);
  }

  /** Forgets a whole user, agent or team, or one session: items, words, registry entry, bytes. */
  forget(scope: Scope): Promise<ForgetReceipt> {
    return this.service.forget(scope);
  }

  /** Resolves when all that was added is embedded and written; says what could not be. */
  flush(): Promise<FlushReport> {
    return this.service.flush();
  }

  /**
   * Embeds everything anew with another model, while this process and all others on the file go on with the old one. Then
   * the new vectors are served: open the memory with the new model from there on. A call that was stopped, or whose process
   * was killed, is taken up by the next one with the same model.
   */
  reindex(options: ReindexOptions): Promise<ReindexReport> {
    return this.service.reindexing.run(options);
  }

  /** Gives up a half-done `reindex`, of whichever process. False if there is none. */
  abandonReindex(): Promise<boolean> {
    return this.service.reindexing.abandon();
  }

  stats(): Promise<ServiceStats> {
    return this.service.stats();
  }

  close(): Promise<CloseReport> {
    return this.service.close();
  }
}
