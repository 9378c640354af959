/** Components: which parts of a memory work at this moment, and why others do not. */
import type { ProcessMemory } from "../memory-pressure.js";
import type { MeaningStats } from "./meaning-path.js";
import type { SpeculativeStats } from "./speculative/speculative-buffer.js";
import type { WriteBufferStats } from "./write.js";

/**
 * ok · degraded: it does less than usual, or retries what failed · failed: it does nothing at present.
 */
export const COMPONENT_STATES = ["ok", "degraded", "failed"] as const;
/** ok: it works · degraded: it works with restrictions · failed: it does not work. */
export type ComponentState = (typeof COMPONENT_STATES)[number];

/** The state of one part of the memory. */
export interface Component {
  /** Whether the part works. */
  readonly state: ComponentState;
  /** Why it is not ok. */
  readonly reason?: string;
}

/** Without an embedding model there are only `write`, `query` and `speculative`. */
export interface Components {
  /** The WriteBuffer: adds and all other writes. */
  readonly write: Component;
  /** The RoundBuffer: messages that gather until they are embedded. */
  readonly round?: Component;
  /** The HybridBuffer: embedding, and vectors that are not written yet. */
  readonly hybrid?: Component;
  /** The QueryBuffer: searches and cached answers. */
  readonly query: Component;
  /** The SpeculativeBuffer: questions answered ahead of time. Absent if that is turned off. */
  readonly speculative?: Component;
  /** The embedding model. */
  readonly embedder?: Component;
  /** The external vector index, if there is one. */
  readonly index?: Component;
}

const OK: Component = { state: "ok" };
const degraded = (reason: string): Component => ({ state: "degraded", reason });
const failed = (reason: string): Component => ({ state: "failed", reason });

export function componentsOf(
  write: WriteBufferStats,
  meaning: MeaningStats | undefined,
  speculative: SpeculativeStats | undefined,
  process: Pick<ProcessMemory, "isShort">,
): Components {
  const ahead = speculative && { speculative: speculativeOf(process) };
  if (!meaning) return { write: writeOf(write), query: queryOf(process), ...ahead };
  const embedder = embedderOf(meaning);
  return {
    write: writeOf(write),
    round: roundOf(meaning, embedder),
    hybrid: hybridOf(meaning),
    query: queryOf(process, embedder),
    ...ahead,
    embedder,
    ...(meaning.index && { index: indexOf(meaning.index) }),
  };
}

function writeOf({ health, lastError, commitError, waitingForRoom }: WriteBufferStats): Component {
  if (health === "closed") return failed("it is closed");
  if (health === "failed") return failed(`it refuses writes: ${lastError}`);
  if (health === "recovering") return degraded(`a commit of unknown outcome is being resolved: ${lastError}`);
  if (commitError !== undefined) return degraded(`the last commit failed: ${commitError}`);
  return waitingForRoom === 0 ? OK : degraded(`it is full: calls that wait for room: ${waitingForRoom}`);
}

function queryOf({ isShort }: Pick<ProcessMemory, "isShort">, embedder = OK): Component {
  if (embedder.state === "failed") return degraded(`new questions are answered by words only: ${embedder.reason}`);
  return isShort
    ? degraded("the process is short of memory: caches are small, large spaces are searched by words")
    : OK;
}

function speculativeOf({ isShort }: Pick<ProcessMemory, "isShort">): Component {
  return isShort ? degraded("the process is short of memory: nothing is answered ahead of time") : OK;
}

function roundOf({ fault, retrying }: MeaningStats, embedder: Component): Component {
  if (fault !== undefined) return failed(`nothing is transferred: ${fault}`);
  if (embedder.state === "failed") return degraded("what gathers waits for the embedder");
  return retrying === undefined ? OK : degraded(`what gathers waits for the store: ${retrying}`);
}

function hybridOf({ fault, hybrid: { flushError, isFull } }: MeaningStats): Component {
  if (fault !== undefined) return failed(`nothing is embedded: ${fault}`);
  if (flushError !== undefined) return degraded(`the last flush failed: ${flushError}`);
  return isFull ? degraded("it is full: embedding waits until vectors are written") : OK;
}

function embedderOf({ fault, embedder: { circuit, failures, lastError } }: MeaningStats): Component {
  if (fault !== undefined) return failed(fault);
  const reason = `failures in a row: ${failures}; the last one: ${lastError}`;
  if (circuit !== "closed") return failed(`it is not called for a while; ${reason}`);
  return failures === 0 ? OK : degraded(reason);
}

function indexOf({ sendError, searchError }: NonNullable<MeaningStats["index"]>): Component {
  if (searchError !== undefined) return degraded(`the file is searched instead: ${searchError}`);
  return sendError === undefined ? OK : degraded(`changes wait to be sent: ${sendError}`);
}
