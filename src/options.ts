/**
 * The options: every key with its default and the trade-off of changing it.
 *
 * `OPTIONS` is the only list of keys; types, names and checks are derived from it. A key is written as below in code
 * (`buffer.query.maxSize`), in snake case in the YAML file (`buffer.query.max_size`), and in capitals in the
 * environment (`HOLDFAST_BUFFER_QUERY_MAX_SIZE`). One key has another name in the file: `path` is `store.path` there,
 * and `HOLDFAST_STORE_PATH`. Code overrides the environment, which overrides the file.
 */
import { type Clock, systemClock } from "./clock.js";
import type { Embedder } from "./embedding/embedder.js";
import { MODEL_NAME } from "./embedding/minilm/choice.js";
import type { Extractor } from "./extraction/extractor.js";
import { CHUNK_STRATEGIES } from "./retrieval/chunks/chunk.js";
import type { VectorIndex } from "./stores/vector-index.js";
import { isSoundIdentity } from "./text.js";
import { isKnownTokenModel } from "./tokens/models.js";
import type { Order } from "./types.js";

/** One option: its valid values and its default. */
export interface Field<T> {
  /** A description of valid values. */
  readonly expected: string;
  /** Undefined if the option is required. */
  readonly fallback: T | undefined;
  /** The key in the file, if it differs from that in code. */
  readonly fileKey?: string;
  /** True for values that cannot be given as text. */
  readonly codeOnly?: boolean;
  /** True if the value may stay undefined. */
  readonly optional?: boolean;
  /** What is never shown: the whole value, or the user, password and query of an address. */
  readonly hides?: "value" | "credentials";
  accepts(value: unknown): value is T;
  /** The value of an environment variable, not yet checked. */
  fromText(text: string): unknown;
}

export const SORTS = ["score", "timestamp"] as const;
export type SortBy = (typeof SORTS)[number];
export const ORDERS = ["desc", "asc"] as const satisfies readonly Order[];

/**
 * next_line: the message just added is the next question · stride: a series continues (pages, dates, numbers, sessions) ·
 * correlation: what was asked after a similar question before · topic: the newest messages together are the next
 * question · opening: a space that comes into use is asked soon · anticipate: what the application says is being typed.
 */
export const PREDICTORS = ["next_line", "stride", "correlation", "topic", "opening", "anticipate"] as const;
export type PredictorName = (typeof PREDICTORS)[number];

const LOG_LEVELS = ["debug", "error", "silent"] as const;

/** The `path` that keeps everything in the memory of this process. */
export const IN_MEMORY = ":memory:";

const ADDRESS = "an http or https address";
const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;
/** The maximal length of the name of a model, an index or an extractor. */
const NAME_MAX = 200;

export const OPTIONS = {
  /**
   * The database file; created if it does not exist. A relative path is relative to the working directory. ":memory:"
   * keeps everything in this process's memory instead: faster, and gone when the process ends.
   */
  path: path(),

  /** The options of the file. */
  store: {
    /**
     * How long a write waits while another process holds the file's write lock, before it fails with `busy`. Shorter:
     * earlier errors when another process writes a lot. Longer: calls may hang that long.
     */
    busyTimeoutMs: integer(10_000, 0, HOUR_MS),
  },

  /** The options of the buffers. */
  buffer: {
    /**
     * False: adds wait until their items are embedded and the vectors are written, in the same call. Same guarantees,
     * slower adds, more transactions.
     */
    enabled: flag(true),
    /**
     * How long `close` continues to embed pending items. The rest stays pending in the file; a text that cannot be
     * finished in time is not started. Longer: slower exit. Shorter: more work left for the next process that opens the
     * file.
     */
    closeMs: integer(5_000, 0, HOUR_MS),
    /**
     * The resident memory of the process, in bytes, above which caches and vectors in memory are dropped and spaces
     * that do not fit are searched by words only, until it has fallen by 15 %. Writes continue. 0: no limit. A heap that is
     * nearly full has the same effect, whatever the limit. Set it below the limit of a container.
     */
    maxProcessBytes: integer(0, 0, 1024 * 1024 * MIB),

    writeBuffer: {
      /**
       * Bytes of messages that may wait to be committed; further adds wait for room. Less: back-pressure after shorter
       * bursts. More: more memory, and a slow disk is noticed later.
       */
      maxWaitingBytes: integer(64 * MIB, 1, 1024 * 1024 * MIB),
      /**
       * How long an add waits for room before it fails with `overloaded`. 0 fails at once. Longer: slow calls instead
       * of errors.
       */
      maxWaitMs: integer(5_000, 0, HOUR_MS),
    },

    roundBuffer: {
      /** A session with more waiting tokens than this is transferred. Less: smaller batches, more of them. */
      maxTokens: integer(800, 1, 1_000_000),
      /** A session with this many waiting rounds is transferred. 1 transfers every round separately. */
      maxSize: integer(5, 1, 10_000),
      /** The model whose tokens are counted. An unknown model family is refused. */
      tokenModel: text("gpt-4o-mini", "the name of a model whose tokens can be counted", isKnownTokenModel),
      /** A session that had no new messages for this long is transferred, however little is waiting. */
      idleMs: integer(60_000, 1, 24 * HOUR_MS),
      /**
       * True: the thresholds are upper bounds, and waiting items are transferred as soon as the embedder is free.
       * False: batches grow up to the thresholds, and the embedder is called less often; until then a query embeds the
       * newest messages itself.
       */
      eager: flag(true),
    },

    hybridBuffer: {
      /** Vectors are written when this many rounds are queued. Less: more transactions. */
      maxSize: integer(5, 1, 10_000),
      /**
       * How text is cut for embedding. `contextual` adds what was said before: more text per vector, fewer bare "yes".
       */
      chunkStrategy: choice("message", CHUNK_STRATEGIES),
      /**
       * The embedding model: the one in the package, one that `embedding.baseUrl` serves, or "none" for words only,
       * without embedding.
       */
      embeddingModel: text(MODEL_NAME, "the name of a model", isName),
      /** Vectors are written when no new ones were queued for this long. */
      idleMs: integer(60_000, 1, 24 * HOUR_MS),
      /** Vectors are written when the oldest has waited this long. */
      forceMs: integer(1_800_000, 1, 24 * HOUR_MS),
      /** Bytes of vectors in memory. Above half of it they are written; above all of it embedding waits. */
      maxBytes: integer(32 * MIB, 1, 1024 * MIB),
      /**
       * How long a process that embeds a session may be silent before another takes over. Shorter: earlier recovery
       * after a crash on another host, but more duplicate work when a machine stalls.
       */
      leaseMs: integer(10_000, 30, HOUR_MS),
    },

    query: {
      /**
       * The maximal number of results of a query, whatever it asks for. Less: shorter prompts and smaller answers, even
       * for callers that ask for too much; pages are limited too.
       */
      maxSize: integer(1000, 1, 1000),
      /** The default sort key of hits. With `timestamp`, the best match may be anywhere in the list. */
      defaultSortBy: choice("score", SORTS),
      /** The default sort order. `asc` with `score` puts the best match last. */
      defaultOrder: choice("desc", ORDERS),
      /**
       * The number of queries whose answers are cached until something in their spaces changes. 0 disables the cache.
       */
      cacheSize: integer(100, 0, 100_000),
      /**
       * Bytes of memory for cached answers, vectors of questions, and vectors of recently searched spaces, together.
       * Less: spaces are loaded from the file more often. A space that does not fit is searched in the file, slowly.
       */
      maxBytes: integer(256 * MIB, MIB, 4096 * MIB - 1),
    },

    speculative: {
      /** The number of answers made ahead of time that are held. 0 turns speculation off. */
      maxSize: integer(10, 0, 1000),
      /** The number of newest messages of a session that predictors see. */
      contextWindow: integer(3, 1, 20),
      /** Bytes of memory for answers made ahead of time. */
      maxBytes: integer(2 * MIB, 1, 1024 * MIB),
      /**
       * The predictors in use, comma-separated. Each one throttles itself while its guesses do not come true, so more of
       * them cost little.
       */
      predictors: text(PREDICTORS.join(","), `some of ${PREDICTORS.join(", ")}, separated by commas`, isPredictorList),
    },
  },

  /** The options of an embedding server. */
  embedding: {
    /** An OpenAI-compatible server, without "/embeddings". Default: the model in the package. */
    baseUrl: maybe(address()),
    /** Sent as a bearer token. */
    apiKey: maybe(key()),
    /** The timeout of one request. */
    timeoutMs: integer(30_000, 1, HOUR_MS),
    /** Texts per request. More: fewer requests; too many, and the server refuses them. */
    batchSize: integer(64, 1, 10_000),
    /** Requested from servers that can shorten their vectors. Default: the model's own dimensions. */
    dimensions: maybe(integer(384, 1, 65_536)),
    /** The longest text that the model accepts, in tokens. Default: what is known of the model, or 512. */
    tokensMax: maybe(integer(512, 1, 10_000_000)),
  },

  /** The options of an external vector index. */
  qdrant: {
    /** A Qdrant server that mirrors the file's vectors and is searched instead of them. Default: none. */
    url: maybe(address()),
    /** Sent as the server's API key. */
    apiKey: maybe(key()),
    /** The prefix of its collections' names. */
    collection: text("holdfast", "letters, digits, - and _", (value) => /^[\w-]{1,64}$/.test(value)),
  },

  /** The options of the LLM that extracts facts. */
  extraction: {
    /** An OpenAI-compatible server that extracts facts from messages, without "/chat/completions". */
    baseUrl: maybe(address()),
    /** Its model. Without `baseUrl` and `model`, nothing is extracted. */
    model: maybe(text("", "the name of a model", isName)),
    /** Sent as a bearer token. */
    apiKey: maybe(key()),
    /** The timeout of one request. */
    timeoutMs: integer(120_000, 1, HOUR_MS),
  },

  /** Used by `holdfast serve` and `serve()`, not by a memory that is opened in code. */
  server: {
    /** The address to listen on. If it is not local (127.0.0.1, ::1 or localhost), every request needs a key. */
    host: text("127.0.0.1", "the name or address of an interface", (value) => /^[\w.:-]{1,255}$/.test(value)),
    /** 0 uses any free port. A port in use is an error; no other port is tried. */
    port: integer(8000, 0, 65_535),
    /** True: every request needs a key, local ones too. */
    requireKey: flag(false),
    /**
     * Names besides `host` and localhost by which the server may be called, comma-separated; protects against DNS
     * rebinding. If set, every request needs a key, because others than this machine may reach the server, for instance
     * through a proxy.
     */
    allowedHosts: maybe(text("", "host names, separated by commas", isNameList)),
    /**
     * Web pages that may call the server, such as https://app.example.com, comma-separated. Default: none (no CORS).
     */
    allowedOrigins: maybe(text("", "origins, separated by commas", isOriginList)),
    /** The largest request body. Imports are streams and have no such limit. */
    maxBodyBytes: integer(16 * MIB, 1024, 1024 * MIB),
    /**
     * Requests handled at the same time; more are refused with 503. One caller gets about half of them at most, and 429
     * beyond that. Less: sheds load earlier, and keeps answers fast.
     */
    maxRequests: integer(512, 1, 100_000),
    /** Requests per second of one key (or one address, without keys); more are refused with 429. 0: no limit. */
    ratePerSecond: integer(0, 0, 1_000_000),
    /** error: failures of the server · debug: also every request, by its route, never its content. */
    logLevel: choice("error", LOG_LEVELS),
  },

  /** Your own embedder; overrides `embeddingModel` and `embedding`. */
  embedder: instance<Embedder>("an Embedder", "model", ["describe", "countTokens", "embed", "close"]),
  /** Your own extractor; overrides `extraction`. Without either, `facts.extract` is refused. */
  extractor: instance<Extractor>("an Extractor", "name", ["extract"]),

  /** Your own vector index; overrides `qdrant`. */
  vectorIndex: instance<VectorIndex>("a VectorIndex", "name", ["prepare", "upsert", "delete", "search", "close"]),

  /** The source of time. A clock other than the system's is for tests: expiry and ids follow it. */
  clock: clock(),
} as const;

/** Every option with its value. */
export type ResolvedOptions = Resolved<typeof OPTIONS>;
type Resolved<T> = { readonly [K in keyof T]: T[K] extends Field<infer V> ? V : Resolved<T[K]> };

/** The options as given in code: all are optional if the file or the environment has the `path`. */
export type Options = Partly<typeof OPTIONS>;
type Partly<T> = {
  readonly [K in keyof T]?: (T[K] extends Field<infer V> ? V : Partly<T[K]>) | undefined;
};

function path(): Field<string> {
  return {
    expected: 'the path of a file, or ":memory:"',
    fallback: undefined,
    fileKey: "store.path",
    accepts: (value): value is string => typeof value === "string" && value !== "" && !value.includes("\0"),
    fromText: (text) => text,
  };
}

function integer(fallback: number, min: number, max: number): Field<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    fallback,
    accepts: (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    fromText: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : text),
  };
}

function choice<const T extends string>(fallback: T, choices: readonly T[]): Field<T> {
  return {
    expected: `one of ${choices.join(", ")}`,
    fallback,
    accepts: (value): value is T => choices.includes(value as T),
    fromText: (text) => text,
  };
}

function flag(fallback: boolean): Field<boolean> {
  return {
    expected: "true or false",
    fallback,
    accepts: (value): value is boolean => typeof value === "boolean",
    fromText: (value) => (value === "true" ? true : value === "false" ? false : value),
  };
}

function text(fallback: string, expected: string, isRight: (value: string) => boolean): Field<string> {
  return {
    expected,
    fallback,
    accepts: (value): value is string => typeof value === "string" && value !== "" && isRight(value),
    fromText: (value) => value,
  };
}

function key(): Field<string> {
  return { ...text("", "a key", (value) => value !== ""), hides: "value" };
}

function address(): Field<string> {
  return { ...text("", ADDRESS, isAddress), hides: "credentials" };
}

/** The same, without a default. */
function maybe<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, fallback: undefined, optional: true };
}

/** An object with this name and these methods, given in code. Undefined by default. */
function instance<T extends object>(
  noun: string,
  name: keyof T & string,
  methods: readonly (keyof T & string)[],
): Field<T | undefined> {
  return {
    expected: `${noun} with ${name} (a name of 1 to ${NAME_MAX} characters) and the methods ${methods.join(", ")}`,
    fallback: undefined,
    optional: true,
    codeOnly: true,
    accepts: (value): value is T => {
      if (typeof value !== "object" || value === null) return false;
      const given = value as { readonly [key: string]: unknown };
      return isName(given[name]) && methods.every((method) => typeof given[method] === "function");
    },
    fromText: (value) => value,
  };
}

/** Whether the file can store the name unchanged: a file is reopened only with the names that it stores. */
function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= NAME_MAX && isSoundIdentity(value);
}

function isPredictorList(value: string): boolean {
  return value.split(",").every((name) => PREDICTORS.some((known) => known === name.trim()));
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
