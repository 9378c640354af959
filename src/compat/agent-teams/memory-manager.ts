/**
 * Conversation memories in files, one per agent of a team: `{base}/{team}/memory/{agent}.json`, readable, in the format of
 * agent_teams.
 *
 * - A file is replaced atomically and durably, under the lock of the team's folder.
 * - Calls of one process on a file run in the order of the calls. A save stores the state at the time of its call.
 * - A damaged file is reported and kept under another name; only `delete` removes a memory.
 */
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "../../clock.js";
import { ConversationMemory } from "../../conversation/conversation-memory.js";
import { completeConfig, type MemoryConfig } from "../../conversation/memory-config.js";
import { HoldfastError } from "../../errors.js";
import { parseInteger } from "../../input/integer.js";
import { objectWith, wrongType } from "../../input/refusal.js";
import { decodeUtf8, withoutMark } from "../../text.js";
import { fileMutex } from "./file-mutex.js";
import { locked } from "./folder-lock.js";
import { read, remove, replace, setAside } from "./memory-file.js";
import { queueDelete, queueSave } from "./save-queue.js";
import { ensure, exists, pathOf } from "./team-folder.js";
import { parseTeamName } from "./team-name.js";

/** The options of a `MemoryManager`. */
export interface MemoryManagerOptions {
  /** How long a call waits for the team's lock before it fails with `busy`. Default: 10 s. */
  readonly busyTimeoutMs?: number;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock;
}

const OPTION_KEYS: ReadonlySet<string> = new Set(["busyTimeoutMs", "clock"]);
const BUSY_TIMEOUT_MS = 10_000;
const BUSY_TIMEOUT_MS_MAX = 3_600_000;

interface TeamLocation {
  readonly team: string;
  readonly folder: string;
  readonly path: string;
}

/** Saves conversation memories as JSON files, one per agent of a team. */
export class MemoryManager {
  readonly #base: string;
  readonly #busyTimeoutMs: number;
  readonly #clock: Clock;

  /** `base` is the folder of all teams; the first save creates it. Links that lead out of it are refused. */
  constructor(base: string, options: MemoryManagerOptions = {}) {
    if (typeof base !== "string" || base === "") throw wrongType("base", "the path of a folder", base);
    const { busyTimeoutMs = BUSY_TIMEOUT_MS, clock = systemClock } = objectWith(options, OPTION_KEYS, "options");
    this.#base = resolve(base);
    this.#busyTimeoutMs = parseInteger(busyTimeoutMs, "options.busyTimeoutMs", 0, BUSY_TIMEOUT_MS_MAX);
    this.#clock = clock as Clock;
  }

  /** Saves the memory's current state. When it resolves, this or a newer save of this process is durable. */
  async save(team: string, agent: string, memory: ConversationMemory): Promise<void> {
    const place = this.#placeOf(team, agent);
    if (!(memory instanceof ConversationMemory)) throw wrongType("memory", "a ConversationMemory", memory);
    const text = `${JSON.stringify(memory, undefined, 2)}\n`;
    await queueSave(place.path, text, (newest) => explained(place, () => this.#save(place, newest)));
  }

  /**
   * The memory saved last; undefined if there is none. It has its own limits; those in `config` win. A damaged file is renamed
   * and reported (`details.path`, `details.keptAs`), so that the next load finds none.
   */
  async load(team: string, agent: string, config: Partial<MemoryConfig> = {}): Promise<ConversationMemory | undefined> {
    const place = this.#placeOf(team, agent);
    completeConfig(config); // check the caller's input before blaming the file
    return fileMutex.run(place.path, () => explained(place, () => this.#load(place, config)));
  }

  /** Deletes the memory, if there is one. Damaged files that were set aside are kept. */
  async delete(team: string, agent: string): Promise<void> {
    const place = this.#placeOf(team, agent);
    await queueDelete(place.path, () => explained(place, () => this.#delete(place)));
  }

  #placeOf(teamName: string, agentName: string): TeamLocation {
    const team = parseTeamName(teamName, "team");
    const agent = parseTeamName(agentName, "agent");
    const folder = pathOf(this.#base, team);
    return { team, folder, path: join(folder, `${agent}.json`) };
  }

  async #save({ team, folder, path }: TeamLocation, text: string): Promise<void> {
    await ensure(this.#base, team);
    await locked(folder, this.#busyTimeoutMs, () => replace(path, text));
  }

  async #load(
    { team, folder, path }: TeamLocation,
    config: Partial<MemoryConfig>,
  ): Promise<ConversationMemory | undefined> {
    if (!(await exists(this.#base, team))) return undefined;
    const found = parse(await read(path), config);
    if (!(found instanceof Damage)) return found;
    // Read again under the lock: another process may have set it aside and saved a sound one.
    return locked(folder, this.#busyTimeoutMs, async () => {
      const again = parse(await read(path), config);
      if (!(again instanceof Damage)) return again;
      const time = new Date(this.#clock.now()).toISOString().replaceAll(":", "-");
      throw again.reported(path, await setAside(path, `corrupt-${time}`));
    });
  }

  async #delete({ team, folder, path }: TeamLocation): Promise<void> {
    if (!(await exists(this.#base, team))) return;
    await locked(folder, this.#busyTimeoutMs, () => remove(path));
  }
}

/** Why the bytes are not a memory. */
class Damage {
  readonly #why: string;

  constructor(why: string) {
    this.#why = why;
  }

  reported(path: string, keptAs: string): HoldfastError {
    return new HoldfastError("store_failed", `${path} is damaged: ${this.#why}`, {
      hint: `it was kept as ${keptAs}; repair it and rename it back, or save again`,
      details: { path, keptAs },
    });
  }
}

/** Without causes, because JSON.parse's message quotes the text. */
function parse(bytes: Uint8Array | undefined, config: Partial<MemoryConfig>): ConversationMemory | Damage | undefined {
  if (!bytes) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(decodeUtf8(bytes, "it")));
  } catch {
    return new Damage("it is not JSON in UTF-8");
  }
  try {
    return ConversationMemory.fromJSON(value, config);
  } catch (error) {
    if (error instanceof HoldfastError) return new Damage(error.message);
    throw error;
  }
}

/** Adds the path and one of our codes to errors of the file system. */
async function explained<T>({ path }: TeamLocation, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") {
      throw new HoldfastError("store_unsafe", `${path} is a link`, {
        cause: error,
        hint: "replace it with the file itself; links are not followed",
        details: { path },
      });
    }
    throw new HoldfastError("store_failed", `${path}: ${message}`, {
      cause: error,
      hint: "check the folder, its permissions and the disk, then repeat the call",
      details: { path },
    });
  }
}
