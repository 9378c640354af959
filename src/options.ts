/**
 * The options: every key with its default and the price of changing it.
 *
 * `OPTIONS` is the only list of keys; types, names and checks come from it. A key is spelled as below in code
 * (`buffer.query.maxSize`), in snake case in the YAML file (`buffer.query.max_size`), and in capitals in the environment
 * (`HOLDFAST_BUFFER_QUERY_MAX_SIZE`). One key has another place in the file: `path` is `store.path` there, and
 * `HOLDFAST_STORE_PATH`. Code wins over the environment, the environment over the file.
 */
import { type Clock, systemClock } from "./clock.js";
import type { Embedder } from "./embedding/embedder.js";
import { MODEL_NAME } from "./embedding/minilm/choice.js";
import type { Extractor } from "./extraction/extractor.js";
import { CHUNK_STRATEGIES } from "./retrieval/chunks/chunk.js";
import type { VectorIndex } from "./stores/vector-index.js";
import { isKnownTokenModel } from "./tokens/models.js";
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
  /** True for what may stay undefined. */
  readonly optional?: boolean;
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

export const LOG_LEVELS = ["debug", "error", "silent"] as const;

/** The `path` that keeps everything in this process's memory. */
export const IN_MEMORY = ":memory:";

const ADDRESS = "an http or https address";
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
    /**
     * False: adds wait until what they added is embedded and its vectors are written, in the same call. Same promises,
     * slower adds, more transactions.
     */
    enabled: flag(true),
    /**
     * How long `close` goes on embedding what waits. What is not done by then stays pending in the file. Longer: a
     * slower end; shorter: more left for whoever opens the file next.
     */
    closeMs: integer(5_000, 0, HOUR_MS),

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
      /** A session with more tokens waiting than this is transferred. Less: smaller batches, more of them. */
      maxTokens: integer(800, 1, 1_000_000),
      /** A session with this many rounds waiting is transferred. 1 transfers every round by itself. */
      maxSize: integer(5, 1, 10_000),
      /** Whose tokens are counted. A name of no known family is refused. */
      tokenModel: text("gpt-4o-mini", "the name of a model whose tokens can be counted", isKnownTokenModel),
      /** A session to which nothing was added for so long is transferred, whatever has gathered. */
      idleMs: integer(60_000, 1, 24 * HOUR_MS),
      /**
       * True: the thresholds are upper bounds; what waits is transferred as soon as the embedder has time. False: batches
       * gather as the thresholds say, and the embedder is called less often; until then a question has the newest
       * messages embedded itself.
       */
      eager: flag(true),
    },

    hybridBuffer: {
      /** Vectors are written when this many rounds are queued. Less: more transactions. */
      maxSize: integer(5, 1, 10_000),
      /** How text is cut for embedding. `contextual` adds what came before: more text per vector, fewer bare "yes". */
      chunkStrategy: choice("message", CHUNK_STRATEGIES),
      /**
       * The model that embeds: the one that ships with the package, one that `embedding.baseUrl` serves, or "none":
       * words only, nothing is embedded.
       */
      embeddingModel: text(MODEL_NAME, "the name of a model", (value) => value.length <= 200),
      /** Vectors are written when nothing new was queued for so long. */
      idleMs: integer(60_000, 1, 24 * HOUR_MS),
      /** Vectors are written when the oldest has waited for so long. */
      forceMs: integer(1_800_000, 1, 24 * HOUR_MS),
      /** Bytes of vectors in memory; beyond half of it they are written, beyond it embedding waits. */
      maxBytes: integer(32 * MIB, 1, 1024 * MIB),
      /**
       * How long a process that embeds a session may be silent before another takes over. Shorter: sooner after a crash
       * on another host, and more work done twice when a machine stalls.
       */
      leaseMs: integer(10_000, 30, HOUR_MS),
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
      /** Questions whose answers are kept until something in their spaces changes. 0 keeps none. */
      cacheSize: integer(100, 0, 100_000),
      /**
       * Bytes of memory for finished answers, vectors of questions, and the vectors of the spaces asked last, together.
       * Less: spaces are loaded from the file more often. A space that does not fit is searched in the file, slowly.
       */
      maxBytes: integer(256 * MIB, MIB, 4096 * MIB - 1),
    },

    speculativeBuffer: notBuilt("the SpeculativeBuffer"),
  },

  embedding: {
    /** An OpenAI-compatible server, up to and without "/embeddings". Left out: the model in the package. */
    baseUrl: maybe(text("", ADDRESS, isAddress)),
    /** Sent as a bearer token. */
    apiKey: maybe(text("", "a key", (value) => value !== "")),
    /** How long one request may take. */
    timeoutMs: integer(30_000, 1, HOUR_MS),
    /** Texts per request. More: fewer requests; too many, and the server refuses them. */
    batchSize: integer(64, 1, 10_000),
    /** Asked of servers that can shorten their vectors. Left out: as long as the model makes them. */
    dimensions: maybe(integer(384, 1, 65_536)),
    /** The longest text the model takes, in tokens. Left out: what is known of the model, or 512. */
    tokensMax: maybe(integer(512, 1, 10_000_000)),
  },

  qdrant: {
    /** A Qdrant server that is kept up to date with the file's vectors and searched instead of them. Left out: none. */
    url: maybe(text("", ADDRESS, isAddress)),
    apiKey: maybe(text("", "a key", (value) => value !== "")),
    /** How the names of its collections begin. */
    collection: text("holdfast", "letters, digits, - and _", (value) => /^[\w-]{1,64}$/.test(value)),
  },

  extraction: {
    /** An OpenAI-compatible server that reads facts out of messages, up to and without "/chat/completions". */
    baseUrl: maybe(text("", ADDRESS, isAddress)),
    /** The model there. Left out, with `baseUrl`: nothing is extracted. */
    model: maybe(text("", "the name of a model", (value) => value.length <= 200)),
    /** Sent as a bearer token. */
    apiKey: maybe(text("", "a key", (value) => value !== "")),
    /** How long one request may take. */
    timeoutMs: integer(120_000, 1, HOUR_MS),
  },

  /** Read by `holdfast serve` and `serve()`; a memory that is opened in code has no use for them. */
  server: {
    /** The address to listen at. Beyond this machine (not 127.0.0.1, ::1 or localhost) every request needs a key. */
    host: text("127.0.0.1", "the name or address of an interface", (value) => /^[\w.:-]{1,255}$/.test(value)),
    /** 0: any that is free. One that is taken is an error, never another port. */
    port: integer(8000, 0, 65_535),
    /** True: every request needs a key, on this machine too. */
    requireKey: flag(false),
    /**
     * Names beside `host` and localhost by which the server may be called, with commas between; guards against DNS rebinding.
     * With any of them every request needs a key: others than this machine are to reach the server, through a proxy maybe.
     */
    allowedHosts: maybe(text("", "host names with commas between", isNameList)),
    /** Web pages that may call the server, such as https://app.example.com, with commas between. Left out: none (no CORS). */
    allowedOrigins: maybe(text("", "origins with commas between", isOriginList)),
    /** The largest body of a request. Imports are streams and have no such limit. */
    maxBodyBytes: integer(16 * MIB, 1024, 1024 * MIB),
    /** Requests worked on at the same time; more are refused with 503. Less: sheds sooner, and keeps answers quick. */
    maxRequests: integer(512, 1, 100_000),
    /** Requests per second that one key (or one address, without keys) may send; more are refused with 429. 0: any. */
    ratePerSecond: integer(0, 0, 1_000_000),
    /** error: failures of the server · debug: also every request, by its route, never its content. */
    logLevel: choice("error", LOG_LEVELS),
  },

  /** An embedder of your own; it wins over `embeddingModel` and `embedding`. */
  embedder: instance<Embedder>("an Embedder", ["describe", "countTokens", "embed", "close"]),
  /** An extractor of your own; it wins over `extraction`. Without either `facts.extract` is refused. */
  extractor: instance<Extractor>("an Extractor", ["extract"]),

  /** A vector index of your own; it wins over `qdrant`. */
  vectorIndex: instance<VectorIndex>("a VectorIndex", ["prepare", "upsert", "delete", "search", "close"]),

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

function flag(fallback: boolean): Field<boolean> {
  return {
    built: true,
    expected: "true or false",
    fallback,
    accepts: (value): value is boolean => typeof value === "boolean",
    fromText: (value) => (value === "true" ? true : value === "false" ? false : value),
  };
}

function text(fallback: string, expected: string, isRight: (value: string) => boolean): Field<string> {
  return {
    built: true,
    expected,
    fallback,
    accepts: (value): value is string => typeof value === "string" && value !== "" && isRight(value),
    fromText: (value) => value,
  };
}

/** The same, without a default. */
function maybe<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, fallback: undefined, optional: true };
}

/** An object with these methods, given in code. Undefined if it is not. */
function instance<T extends object>(expected: string, methods: readonly (keyof T & string)[]): Field<T | undefined> {
  return {
    built: true,
    expected,
    fallback: undefined,
    optional: true,
    codeOnly: true,
    accepts: (value): value is T =>
      typeof value === "object" &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"),
    fromText: (value) => value,
  };
}

function isAddress(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function isNameList(value: string): boolean {
  return value.split(",").every((name) => /^[\w.:[\]-]+$/.test(name));
}

function isOriginList(value: string): boolean {
  return value.split(",").every((origin) => isAddress(origin) && new URL(origin).origin === origin);
}

function clock(): Field<Clock> {
  return {
    built: true,
    expected: "a clock with now(), passed() and after()",
    fallback: systemClock,
    codeOnly: true,
    accepts: (value): value is Clock => {
      const { now, passed, after } = (value ?? {}) as Partial<Clock>;
      return [now, passed, after].every((part) => typeof part === "function");
    },
    fromText: (text) => text,
  };
}

function notBuilt(part: string): NotBuilt {
  return { built: false, part };
}
