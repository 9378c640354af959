/// <reference lib="esnext.disposable" preserve="true" />
/** Memory: an open memory file. This is the object that callers use. */
import { mirrorBytes } from "./buffers/query/budget.js";
import { warmUp } from "./buffers/query/retriever.js";
import { keepingAlive } from "./clock.js";
import { type ConfigSetting, ignoredVariables, readConfig } from "./config.js";
import { chooseEmbedder } from "./embedding/choose.js";
import type { MemoryEvents } from "./events/events.js";
import { chooseExtractor } from "./extraction/choose.js";
import type { SessionOptions } from "./input/grants.js";
import { wrongType } from "./input/refusal.js";
import { ApiKeys } from "./keys/api-keys.js";
import { IN_MEMORY, type Options, type ResolvedOptions } from "./options.js";
import { type Entries, LocalEntries, LocalSessions, type Sessions } from "./registry.js";
import type { ReindexReport } from "./reindexing/reindex-run.js";
import type { ReindexOptions } from "./reindexing/reindexing.js";
import { BufferService } from "./service.js";
import { LocalSession, type Session } from "./session.js";
import type { CloseReport, FlushReport, MemoryStats } from "./stats.js";
import { chooseIndex } from "./stores/qdrant/choose.js";
import { absolutePath } from "./stores/sqlite/file/file.js";
import { SqliteStore } from "./stores/sqlite/store.js";
import type { ForgetReceipt, Scope } from "./types.js";
import { FileUpkeep } from "./upkeep/file-upkeep.js";

/** The options of `openMemory`. */
export interface OpenOptions extends Options {
  /** Path of a YAML file with the same options. Options given in code take precedence. */
  readonly config?: string;
}

/**
 * Opens a memory on one file, which is created if it does not exist. Any number of processes may open the same file.
 * A string is the path: `openMemory("agent.db")` is `openMemory({ path: "agent.db" })`.
 *
 * @example
 * const memory = await openMemory("agent.db");
 * const session = memory.session({ user: "ada", session: "monday" });
 * await session.add([{ role: "user", content: "I moved to Lisbon in May." }]);
 * const hits = await session.query("where does she live?");
 * await memory.close();
 */
export async function openMemory(options: string | OpenOptions = {}): Promise<Memory> {
  if (typeof options === "string") return openWithFallback({ path: options }, {});
  if (typeof options !== "object" || options === null) throw wrongType("options", "a path or an object", options);
  return openWithFallback(options, {});
}

/**
 * Like `openMemory`, with other default values: `fallback` replaces the options' own defaults, for programs with
 * specific needs. A program that `asks` nothing, or only `once`, prepares for no further questions.
 */
export async function openWithFallback(
  options: OpenOptions,
  fallback: Options,
  asks: "nothing" | "once" | "often" = "often",
): Promise<Memory> {
  const { config, ...code } = options;
  const { options: resolved, settings } = readConfig({ file: config, env: process.env, code, fallback });
  const embedder =
    resolved.embedder ?? chooseEmbedder({ ...resolved.embedding, model: embeddingModel(resolved) }, resolved.clock);
  const extractor = resolved.extractor ?? chooseExtractor(resolved.extraction, resolved.clock);
  const index = resolved.vectorIndex ?? chooseIndex(resolved.qdrant);
  const warm = asks === "nothing" ? [] : warmed(resolved, embedder !== undefined);
  const store = await openStore(resolved, warm);
  const service = new BufferService(store, resolved, { embedder, index, extractor });
  try {
    await service.start();
  } catch (error) {
    await service.close();
    throw error;
  }
  const isWarmed = asks === "often" && warm.length > 0;
  const { path, embedder: own } = resolved;
  return new Memory(service, {
    ignoredVariables: ignoredVariables(process.env),
    settings,
    upkeep: new FileUpkeep(path === IN_MEMORY ? path : absolutePath(path), own?.model ?? embeddingModel(resolved)),
    cancelWarmUp: isWarmed
      ? resolved.clock.after(WARM_UP_MS, () => void warmUp().catch(() => undefined))
      : () => undefined,
  });
}

/**
 * Compiling the patterns (`warmUp`) blocks for some 60 ms, so it waits until the first calls are done. If it fails, the
 * first questions compile them: a bundle in one file with top-level await cannot import anything before it has run.
 */
const WARM_UP_MS = 200;

function openStore(resolved: ResolvedOptions, warm: readonly "search"[]): Promise<SqliteStore> {
  const { path, store, buffer } = resolved;
  const { maxBytes } = buffer.query;
  return SqliteStore.open({ path, ...store, mirrorBytes: mirrorBytes(maxBytes), warm });
}

/**
 * The threads to start before the first query. Without eager embedding, a process should stay small until it is
 * queried. A query by meaning waits longest for the vectors, and any other thread would slow that down.
 */
function warmed({ buffer }: ResolvedOptions, hasMeaning: boolean): readonly "search"[] {
  if (hasMeaning && !buffer.roundBuffer.eager) return [];
  return ["search"];
}

const embeddingModel = ({ buffer }: ResolvedOptions): string => buffer.hybridBuffer.embeddingModel;

/** The operations available on any memory, in this process or behind a server (`connect`). */
export type MemoryHandle = Pick<
  Memory,
  "users" | "agents" | "teams" | "sessions" | "session" | "forget" | "flush" | "stats"
>;

/** How a memory was opened. */
interface Opened {
  readonly ignoredVariables: readonly string[];
  readonly settings: readonly ConfigSetting[];
  readonly upkeep: FileUpkeep;
  readonly cancelWarmUp: () => void;
}

const NOT_OPENED: Opened = {
  ignoredVariables: [],
  settings: [],
  upkeep: new FileUpkeep(IN_MEMORY, "none"),
  cancelWarmUp: () => undefined,
};

/** An open memory. */
export class Memory implements AsyncDisposable {
  /** The parts behind this object: buffers, events and the store. Most programs need none of them. */
  readonly service: BufferService;
  /** The users: list, create, rename, retain, delete. */
  readonly users: Entries;
  /** The agents: list, create, rename, retain, delete. */
  readonly agents: Entries;
  /** The teams: list, create, rename, retain, delete. */
  readonly teams: Entries;
  /** The sessions: list, create, rename, delete. */
  readonly sessions: Sessions;
  /** The API keys of a server on this file. */
  readonly keys: ApiKeys;
  /** Subscriptions to what happens in the buffers. */
  readonly events: MemoryEvents;
  /** Checks and backups of its file. */
  readonly upkeep: FileUpkeep;
  readonly #opened: Opened;

  constructor(service: BufferService, opened: Opened = NOT_OPENED) {
    this.service = service;
    this.#opened = opened;
    this.upkeep = opened.upkeep;
    this.events = service.events;
    this.users = new LocalEntries(service, "user");
    this.agents = new LocalEntries(service, "agent");
    this.teams = new LocalEntries(service, "team");
    this.sessions = new LocalSessions(service);
    this.keys = new ApiKeys({
      store: service.store,
      write: (write, once) => service.write(write, once),
      now: () => service.clock.now(),
    });
  }

  /**
   * A handle on one scope. Creates nothing: the first add registers user, agent and session. The session may read the
   * spaces that the scope names and those that are granted. It writes only to its own space.
   *
   * @example
   * const session = memory.session({ user: "ada", agent: "tutor", session: "monday" }); // in the memory of ada
   * const team = memory.session({ team: "docs" }); // the team's own memory
   */
  session(scope: Scope, options?: SessionOptions): Session {
    return new LocalSession(this.service, scope, options);
  }

  /**
   * Forgets a whole user, agent or team, or one session: items, words, registry entry and the bytes in the file.
   *
   * @example
   * await memory.forget({ user: "ada", session: "monday" }); // without `session`: all of ada
   */
  forget(scope: Scope): Promise<ForgetReceipt> {
    return this.service.forget(scope);
  }

  /** Resolves when everything added is embedded and written. Reports what could not be embedded. */
  flush(): Promise<FlushReport> {
    return keepingAlive(this.service.flush());
  }

  /**
   * Re-embeds everything with another model, while this process and all others on the file continue with the old one.
   * Then the new vectors are in use: from that point on, open the memory with the new model. A call that was stopped,
   * or whose process was killed, is resumed by the next call with the same model.
   */
  reindex(options: ReindexOptions): Promise<ReindexReport> {
    return keepingAlive(this.service.reindexing.run(options));
  }

  /** Abandons an unfinished `reindex` of any process. Returns false if there is none. */
  abandonReindex(): Promise<boolean> {
    return this.service.reindexing.abandon();
  }

  /** Counters, latencies, health, and targets beside what was measured. */
  async stats(): Promise<MemoryStats> {
    return { ...(await this.service.stats()), ignoredVariables: this.#opened.ignoredVariables };
  }

  /** Every option in force, and where its value comes from. Secrets are not shown. */
  config(): readonly ConfigSetting[] {
    return this.#opened.settings;
  }

  /**
   * Finishes what is under way and closes the file. Embeds for up to `buffer.closeMs`; the next process continues the
   * rest. Later calls fail with `closed`.
   */
  close(): Promise<CloseReport> {
    this.#opened.cancelWarmUp();
    return keepingAlive(this.service.close());
  }

  /** `await using memory = await openMemory(…)` closes the memory at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
