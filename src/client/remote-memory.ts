/// <reference lib="esnext.disposable" preserve="true" />
/** RemoteMemory: a handle on a memory behind a server. */
import type { Rights } from "../calls/caller.js";
import type { ConfigSetting } from "../config.js";
import type { MemoryHandle } from "../memory.js";
import type { HistoryQuery, StatsHistory } from "../metrics/history.js";
import type { SeriesName } from "../metrics/series.js";
import type { Entries, Sessions } from "../registry.js";
import type { Session } from "../session.js";
import type { BufferedSessions, FlushReport, MemoryStats } from "../stats.js";
import type { ImportReport } from "../transfer/report.js";
import type { ForgetReceipt, Scope } from "../types.js";
import type { Diagnosis } from "../upkeep/diagnosis.js";
import type { FileInspectOptions } from "../upkeep/file-upkeep.js";
import { type ConnectOptions, parseEndpoint } from "./endpoint.js";
import { type RemoteEvent, type RemoteEventsOptions, remoteEvents } from "./remote-events.js";
import { RemoteKeys } from "./remote-keys.js";
import { RemoteEntries, RemoteSessions } from "./remote-registry.js";
import { RemoteSession, type RemoteSessionOptions } from "./remote-session.js";
import { type RemoteExportOptions, type RemoteImportOptions, remoteExport, remoteImport } from "./remote-transfer.js";
import { type RemoteBackup, remoteBackup, remoteInspection } from "./remote-upkeep.js";
import { Transport } from "./transport.js";

/**
 * Connects to a memory behind a Holdfast server. Nothing is sent until the first call, which fails if the server is
 * unreachable.
 *
 * @example
 * const memory = connect("http://127.0.0.1:8000", { key });
 * const hits = await memory.session({ user: "ada" }).query("where does she live?");
 */
export function connect(url: string | URL, options: ConnectOptions = {}): RemoteMemory {
  const signals = options?.signal === undefined ? [] : [options.signal];
  return new RemoteMemory(new Transport(parseEndpoint(url, options), signals));
}

/** A memory behind a server. `connect` makes one. */
export class RemoteMemory implements MemoryHandle, AsyncDisposable {
  /** The users that the key covers. */
  readonly users: Entries;
  /** The agents that the key covers. */
  readonly agents: Entries;
  /** The teams that the key covers. */
  readonly teams: Entries;
  /** The sessions of spaces that the key covers. */
  readonly sessions: Sessions;
  /** The API keys of the server; only for admins. */
  readonly keys: RemoteKeys;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.users = new RemoteEntries(transport, "users");
    this.agents = new RemoteEntries(transport, "agents");
    this.teams = new RemoteEntries(transport, "teams");
    this.sessions = new RemoteSessions(transport);
    this.keys = new RemoteKeys(transport);
  }

  /** A handle on one scope. Sends nothing. `grants` are checked here; the server checks the key as well. */
  session(scope: Scope, options?: RemoteSessionOptions): Session {
    return new RemoteSession(this.#transport, scope, options);
  }

  /** Forgets a whole user, agent or team, or one session. */
  forget(scope: Scope): Promise<ForgetReceipt> {
    return this.session(scope).forget();
  }

  /** Resolves when everything added so far, by anyone, is embedded and written. For admins. */
  async flush(): Promise<FlushReport> {
    return this.#transport.call("flush");
  }

  /** What this connection's key may do, or what everyone may do without one. */
  async caller(): Promise<Rights> {
    return this.#transport.call("caller");
  }

  /** For admins. */
  async stats(): Promise<MemoryStats> {
    return (await this.#transport.call("stats")) as unknown as MemoryStats;
  }

  /**
   * What the server measured in the last hours, at most six, or after `since` (epoch milliseconds): all series, or one.
   * For admins.
   */
  statsHistory<Name extends SeriesName = SeriesName>(query: HistoryQuery<Name> = {}): Promise<StatsHistory<Name>> {
    return this.#transport.call("statsHistory", { query: { ...query } }) as Promise<StatsHistory<Name>>;
  }

  /** The sessions with items in the RoundBuffer or the HybridBuffer. Everywhere, which is for admins, or in a scope. */
  bufferedSessions(scope?: Scope): Promise<BufferedSessions> {
    return this.#transport.call("bufferedSessions", scope && { scope });
  }

  /** Every option of the server in force, and where its value comes from. Secrets are not shown. For admins. */
  async config(): Promise<readonly ConfigSetting[]> {
    return (await this.#transport.call("config")).settings as readonly ConfigSetting[];
  }

  /** Checks the server's file and its model. Changes nothing. For admins. */
  inspect(options: FileInspectOptions = {}): Promise<Diagnosis> {
    return remoteInspection(this.#transport, options);
  }

  /** A consistent, checked copy of the server's file, which stays in use. For admins. */
  backup(options: { readonly signal?: AbortSignal } = {}): Promise<RemoteBackup> {
    return remoteBackup(this.#transport, options);
  }

  /** Events of the server's buffers. Continues until the signal or the reader ends it. */
  events(options: RemoteEventsOptions = {}): AsyncGenerator<RemoteEvent, void, void> {
    return remoteEvents(this.#transport, options);
  }

  /** Everything, or the contents of a scope, as lines of JSON. */
  export(options: RemoteExportOptions = {}): AsyncGenerator<string, void, void> {
    return remoteExport(this.#transport, options);
  }

  /** Imports lines of an export, or plain messages. A file (`Blob`) is sent as it is. Idempotent. */
  import(
    lines: Blob | Iterable<string> | AsyncIterable<string>,
    options: RemoteImportOptions = {},
  ): Promise<ImportReport> {
    return remoteImport(this.#transport, lines, options);
  }

  /** Refuses further calls and ends streams. Resolves when the calls in progress are answered. The server keeps running. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** `await using memory = connect(…)` closes the handle at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
