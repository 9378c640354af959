/**
 * The options: every key with its default and the price of changing it.
 *
 * `OPTIONS` is the only list of keys; types, names and checks come from it. A key is spelled as below in code
 * (`buffer.query.maxSize`), in snake case in the YAML file (`buffer.query.max_size`), and in capitals in the environment
 * (`HOLDFAST_BUFFER_QUERY_MAX_SIZE`). One key has another place in the file: `path` is `store.path` there, and
 * `HOLDFAST_STORE_PATH`. Code wins over the environment, the environment over the file.
 */
import { type Clock, systemClock } from "./clock.js";
import type { Order } from "./types.js";

/** One option: what it may be and what it is when nobody says. */
export interface Field<T> {
  readonly built: true;
  /** What the value must be, in words. */
  readonly expected: string;
  /** Undefined: it has to be given. */
  readonly fallback: T | undefined;
  /** Where the key stands in the file, if not at its place in code. */
  readonly fileKey?: string;
  /** True for what text cannot say. */
  readonly codeOnly?: boolean;
  accepts(value: unknown): value is T;
  /** The value that a text from the environment stands for, still to be checked. */
  fromText(text: string): unknown;
}

/** A key of the design whose part does not exist yet. It is refused, so that nobody believes it does something. */
export interface NotBuilt {
  readonly built: false;
  readonly part: string;
}

export const SORTS = ["score", "timestamp"] as const;
export type SortBy = (typeof SORTS)[number];
export const ORDERS = ["desc", "asc"] as const satisfies readonly Order[];

/** The `path` that keeps everything in this process's memory. */
export const IN_MEMORY = ":memory:";

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

export const OPTIONS = {
  /**
   * The file that holds everything; made if it does not exist, and taken from the working directory if relative.
   * ":memory:" keeps everything in this process's memory instead: faster, and gone when the process ends.
   */
  path: path(),

  store: {
    /**
     * How long a write waits while another process holds the file's write lock, before it is refused with `busy`.
     * Shorter: errors sooner when a neighbour writes much. Longer: calls that hang when a neighbour does.
     */
    busyTimeoutMs: integer(10_000, 0, HOUR_MS),
  },

  buffer: {
    enabled: notBuilt("writing past the buffers"),

    writeBuffer: {
      /**
       * Bytes of messages that may wait to be committed; adds beyond it wait for room. Less: adds meet back-pressure
       * in shorter bursts. More: that much more memory, and later news of a disk that cannot keep up.
       */
      maxWaitingBytes: integer(64 * MIB, 1, 1024 * 1024 * MIB),
      /**
       * How long an add waits for room before it is refused with `overloaded`. 0 refuses at once. Longer: slow calls
       * instead of errors.
       */
      maxWaitMs: integer(5_000, 0, HOUR_MS),
    },

    roundBuffer: {
      maxTokens: notBuilt("the RoundBuffer"),
      maxSize: notBuilt("the RoundBuffer"),
      tokenModel: notBuilt("the RoundBuffer"),
    },

    hybridBuffer: {
      maxSize: notBuilt("the HybridBuffer"),
      chunkStrategy: notBuilt("the HybridBuffer"),
      embeddingModel: notBuilt("the HybridBuffer"),
    },

    query: {
      /**
       * Results at most when the caller does not ask for a number; the library itself asks for 10, so only a smaller
       * value shows there. More: longer prompts for the same question.
       */
      maxSize: integer(15, 1, 1000),
      /** How hits are sorted when the caller does not say. `timestamp` puts the best match anywhere in the list. */
      defaultSortBy: choice("score", SORTS),
      /** Which end comes first when the caller does not say. `asc` with `score` puts the best match last. */
      defaultOrder: choice("desc", ORDERS),
      cacheSize: notBuilt("the cache of the QueryBuffer"),
    },

    speculativeBuffer: notBuilt("the SpeculativeBuffer"),
  },

  /** Where time comes from. Another clock than the system's is for tests: expiry and ids follow it. */
  clock: clock(),
} as const;

type Absent = NotBuilt | { readonly [key: string]: NotBuilt };
type Built<T> = { [K in keyof T]: T[K] extends Absent ? never : K }[keyof T];

/** Every option with its value. */
export type ResolvedOptions = Resolved<typeof OPTIONS>;
type Resolved<T> = { readonly [K in keyof T as K & Built<T>]: T[K] extends Field<infer V> ? V : Resolved<T[K]> };

/** The options as code gives them: all may be left out if the file or the environment gives the `path`. */
export type Options = Partly<typeof OPTIONS>;
type Partly<T> = {
  readonly [K in keyof T as K & Built<T>]?: (T[K] extends Field<infer V> ? V : Partly<T[K]>) | undefined;
};

function path(): Field<string> {
  return {
    built: true,
    expected: 'the path of a file, or ":memory:"',
    fallback: undefined,
    fileKey: "store.path",
    accepts: (value): value is string => typeof value === "string" && value !== "" && !value.includes("\0"),
    fromText: (text) => text,
  };
}

function integer(fallback: number, min: number, max: number): Field<number> {
  return {
    built: true,
    expected: `a whole number from ${min} to ${max}`,
    fallback,
    accepts: (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    fromText: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : text),
  };
}

function choice<const T extends string>(fallback: T, choices: readonly T[]): Field<T> {
  return {
    built: true,
    expected: `one of ${choices.join(", ")}`,
    fallback,
    accepts: (value): value is T => choices.includes(value as T),
    fromText: (text) => text,
  };
}

function clock(): Field<Clock> {
  return {
    built: true,
    expected: "a clock with now() and after()",
    fallback: systemClock,
    codeOnly: true,
    accepts: (value): value is Clock => {
      const { now, after } = (value ?? {}) as Partial<Clock>;
      return typeof now === "function" && typeof after === "function";
    },
    fromText: (text) => text,
  };
}

function notBuilt(part: string): NotBuilt {
  return { built: false, part };
}
