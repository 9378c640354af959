import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, expectTypeOf, test } from "vitest";
import { type Clock, systemClock } from "./clock.js";
import { KEYS, loadConfig } from "./config.js";
import type { Embedder } from "./embedding/embedder.js";
import type { Extractor } from "./extraction/extractor.js";
import type { Options, ResolvedOptions } from "./options.js";
import type { VectorIndex } from "./stores/vector-index.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the defaults are these", () => {
  expect(loadConfig({ code: { path: "a.db" } })).toStrictEqual({
    path: "a.db",
    store: { busyTimeoutMs: 10_000 },
    buffer: {
      enabled: true,
      closeMs: 5_000,
      maxProcessBytes: 0,
      writeBuffer: { maxWaitingBytes: 67_108_864, maxWaitMs: 5_000 },
      roundBuffer: { maxTokens: 800, maxSize: 5, tokenModel: "gpt-4o-mini", idleMs: 60_000, eager: true },
      hybridBuffer: {
        maxSize: 5,
        chunkStrategy: "message",
        embeddingModel: "all-MiniLM-L6-v2",
        idleMs: 60_000,
        forceMs: 1_800_000,
        maxBytes: 33_554_432,
        leaseMs: 10_000,
      },
      query: {
        maxSize: 1000,
        defaultSortBy: "score",
        defaultOrder: "desc",
        cacheSize: 100,
        maxBytes: 268_435_456,
      },
      speculative: {
        maxSize: 10,
        contextWindow: 3,
        maxBytes: 2_097_152,
        predictors: "next_line,stride,correlation,topic,opening,anticipate",
      },
    },
    embedding: {
      baseUrl: undefined,
      apiKey: undefined,
      timeoutMs: 30_000,
      batchSize: 64,
      dimensions: undefined,
      tokensMax: undefined,
    },
    qdrant: { url: undefined, apiKey: undefined, collection: "holdfast" },
    extraction: { baseUrl: undefined, model: undefined, apiKey: undefined, timeoutMs: 120_000 },
    server: {
      host: "127.0.0.1",
      port: 8000,
      requireKey: false,
      allowedHosts: undefined,
      allowedOrigins: undefined,
      maxBodyBytes: 16_777_216,
      maxRequests: 512,
      ratePerSecond: 0,
      logLevel: "error",
    },
    embedder: undefined,
    extractor: undefined,
    vectorIndex: undefined,
    clock: systemClock,
  });
});

test("every name is used by one key only", () => {
  for (const spelling of ["code", "file", "env"] as const) {
    expect(new Set(KEYS.map((key) => key[spelling])).size).toBe(KEYS.length);
  }
});

test("a default is a value that its own field accepts", () => {
  for (const { option, code } of KEYS) {
    if (option.fallback !== undefined) expect([code, option.accepts(option.fallback)]).toEqual([code, true]);
  }
});

test("the types contain exactly the keys", () => {
  expectTypeOf<ResolvedOptions>().toEqualTypeOf<{
    readonly path: string;
    readonly store: { readonly busyTimeoutMs: number };
    readonly buffer: {
      readonly enabled: boolean;
      readonly closeMs: number;
      readonly maxProcessBytes: number;
      readonly roundBuffer: {
        readonly maxTokens: number;
        readonly maxSize: number;
        readonly tokenModel: string;
        readonly idleMs: number;
        readonly eager: boolean;
      };
      readonly hybridBuffer: {
        readonly maxSize: number;
        readonly chunkStrategy: "message" | "contextual";
        readonly embeddingModel: string;
        readonly idleMs: number;
        readonly forceMs: number;
        readonly maxBytes: number;
        readonly leaseMs: number;
      };
      readonly writeBuffer: { readonly maxWaitingBytes: number; readonly maxWaitMs: number };
      readonly query: {
        readonly maxSize: number;
        readonly defaultSortBy: "score" | "timestamp";
        readonly defaultOrder: "asc" | "desc";
        readonly cacheSize: number;
        readonly maxBytes: number;
      };
      readonly speculative: {
        readonly maxSize: number;
        readonly contextWindow: number;
        readonly maxBytes: number;
        readonly predictors: string;
      };
    };
    readonly embedding: {
      readonly baseUrl: string | undefined;
      readonly apiKey: string | undefined;
      readonly timeoutMs: number;
      readonly batchSize: number;
      readonly dimensions: number | undefined;
      readonly tokensMax: number | undefined;
    };
    readonly qdrant: {
      readonly url: string | undefined;
      readonly apiKey: string | undefined;
      readonly collection: string;
    };
    readonly server: {
      readonly host: string;
      readonly port: number;
      readonly requireKey: boolean;
      readonly allowedHosts: string | undefined;
      readonly allowedOrigins: string | undefined;
      readonly maxBodyBytes: number;
      readonly maxRequests: number;
      readonly ratePerSecond: number;
      readonly logLevel: "debug" | "error" | "silent";
    };
    readonly extraction: {
      readonly baseUrl: string | undefined;
      readonly model: string | undefined;
      readonly apiKey: string | undefined;
      readonly timeoutMs: number;
    };
    readonly embedder: Embedder | undefined;
    readonly extractor: Extractor | undefined;
    readonly vectorIndex: VectorIndex | undefined;
    readonly clock: Clock;
  }>();
  // @ts-expect-error a key that does not exist
  const wrong: Options = { buffer: { query: { size: 3 } } };
  expect(wrong).toBeDefined();
});

/** The nested form of one key, as in the file or in code. */
function nested(key: string, value: unknown): { [key: string]: unknown } {
  return key.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as { [key: string]: unknown };
}

function at(options: ResolvedOptions, key: string): unknown {
  return key.split(".").reduce<unknown>((inner, step) => (inner as { [key: string]: unknown })[step], options);
}

/**
 * Per key: a value for the file, the environment and code; the first differs from the default, and each from the last.
 */
const VALUES: { readonly [code: string]: readonly [file: unknown, env: unknown, code: unknown] } = {
  path: ["file.db", "env.db", "code.db"],
  "store.busyTimeoutMs": [1, 2, 0],
  "buffer.writeBuffer.maxWaitingBytes": [1024, 2048, 4096],
  "buffer.writeBuffer.maxWaitMs": [11, 12, 0],
  "buffer.enabled": [false, true, false],
  "buffer.closeMs": [1, 2, 0],
  "buffer.maxProcessBytes": [1, 2, 0],
  "buffer.roundBuffer.maxTokens": [1, 2, 3],
  "buffer.roundBuffer.maxSize": [1, 2, 3],
  "buffer.roundBuffer.tokenModel": ["gpt-4", "gpt-4.1", "gpt-3.5"],
  "buffer.roundBuffer.idleMs": [1, 2, 3],
  "buffer.roundBuffer.eager": [false, true, false],
  "buffer.hybridBuffer.maxSize": [1, 2, 3],
  "buffer.hybridBuffer.chunkStrategy": ["contextual", "message", "contextual"],
  "buffer.hybridBuffer.embeddingModel": ["none", "a", "b"],
  "buffer.hybridBuffer.idleMs": [1, 2, 3],
  "buffer.hybridBuffer.forceMs": [1, 2, 3],
  "buffer.hybridBuffer.maxBytes": [1, 2, 3],
  "buffer.hybridBuffer.leaseMs": [30, 31, 32],
  "embedding.baseUrl": ["http://127.0.0.1/v1", "http://127.0.0.2/v1", "https://a.example/v1"],
  "embedding.apiKey": ["file", "env", "code"],
  "embedding.timeoutMs": [1, 2, 3],
  "embedding.batchSize": [1, 2, 3],
  "embedding.dimensions": [1, 2, 3],
  "embedding.tokensMax": [1, 2, 3],
  "qdrant.url": ["http://127.0.0.1:1", "http://127.0.0.1:2", "https://a.example"],
  "qdrant.apiKey": ["file", "env", "code"],
  "qdrant.collection": ["file", "env", "code"],
  "extraction.baseUrl": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", "https://a.example/v1"],
  "extraction.model": ["file", "env", "code"],
  "extraction.apiKey": ["file", "env", "code"],
  "extraction.timeoutMs": [1, 2, 3],
  "server.host": ["0.0.0.0", "::1", "localhost"],
  "server.port": [1, 2, 0],
  "server.requireKey": [true, false, true],
  "server.allowedHosts": ["a.example", "b.example,c.example", "d.example"],
  "server.allowedOrigins": ["https://a.example", "https://b.example,http://c.example:81", "https://d.example"],
  "server.maxBodyBytes": [1024, 1025, 1026],
  "server.maxRequests": [1, 2, 3],
  "server.ratePerSecond": [1, 2, 0],
  "server.logLevel": ["debug", "silent", "debug"],
  "buffer.query.maxSize": [1, 2, 1000],
  "buffer.query.cacheSize": [0, 1, 2],
  "buffer.speculative.maxSize": [1, 2, 0],
  "buffer.speculative.contextWindow": [1, 2, 4],
  "buffer.speculative.maxBytes": [1, 2, 3],
  "buffer.speculative.predictors": ["next_line", "stride,topic", "opening"],
  "buffer.query.maxBytes": [1_048_576, 1_048_577, 1_048_578],
  "buffer.query.defaultSortBy": ["timestamp", "score", "timestamp"],
  "buffer.query.defaultOrder": ["asc", "desc", "asc"],
};
const readable = KEYS.filter(({ option }) => !option.codeOnly);

test("each key has its documented names", () => {
  expect(readable.map(({ file, env }) => [file, env])).toEqual([
    ["store.path", "HOLDFAST_STORE_PATH"],
    ["store.busy_timeout_ms", "HOLDFAST_STORE_BUSY_TIMEOUT_MS"],
    ["buffer.enabled", "HOLDFAST_BUFFER_ENABLED"],
    ["buffer.close_ms", "HOLDFAST_BUFFER_CLOSE_MS"],
    ["buffer.max_process_bytes", "HOLDFAST_BUFFER_MAX_PROCESS_BYTES"],
    ["buffer.write_buffer.max_waiting_bytes", "HOLDFAST_BUFFER_WRITE_BUFFER_MAX_WAITING_BYTES"],
    ["buffer.write_buffer.max_wait_ms", "HOLDFAST_BUFFER_WRITE_BUFFER_MAX_WAIT_MS"],
    ["buffer.round_buffer.max_tokens", "HOLDFAST_BUFFER_ROUND_BUFFER_MAX_TOKENS"],
    ["buffer.round_buffer.max_size", "HOLDFAST_BUFFER_ROUND_BUFFER_MAX_SIZE"],
    ["buffer.round_buffer.token_model", "HOLDFAST_BUFFER_ROUND_BUFFER_TOKEN_MODEL"],
    ["buffer.round_buffer.idle_ms", "HOLDFAST_BUFFER_ROUND_BUFFER_IDLE_MS"],
    ["buffer.round_buffer.eager", "HOLDFAST_BUFFER_ROUND_BUFFER_EAGER"],
    ["buffer.hybrid_buffer.max_size", "HOLDFAST_BUFFER_HYBRID_BUFFER_MAX_SIZE"],
    ["buffer.hybrid_buffer.chunk_strategy", "HOLDFAST_BUFFER_HYBRID_BUFFER_CHUNK_STRATEGY"],
    ["buffer.hybrid_buffer.embedding_model", "HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL"],
    ["buffer.hybrid_buffer.idle_ms", "HOLDFAST_BUFFER_HYBRID_BUFFER_IDLE_MS"],
    ["buffer.hybrid_buffer.force_ms", "HOLDFAST_BUFFER_HYBRID_BUFFER_FORCE_MS"],
    ["buffer.hybrid_buffer.max_bytes", "HOLDFAST_BUFFER_HYBRID_BUFFER_MAX_BYTES"],
    ["buffer.hybrid_buffer.lease_ms", "HOLDFAST_BUFFER_HYBRID_BUFFER_LEASE_MS"],
    ["buffer.query.max_size", "HOLDFAST_BUFFER_QUERY_MAX_SIZE"],
    ["buffer.query.default_sort_by", "HOLDFAST_BUFFER_QUERY_DEFAULT_SORT_BY"],
    ["buffer.query.default_order", "HOLDFAST_BUFFER_QUERY_DEFAULT_ORDER"],
    ["buffer.query.cache_size", "HOLDFAST_BUFFER_QUERY_CACHE_SIZE"],
    ["buffer.query.max_bytes", "HOLDFAST_BUFFER_QUERY_MAX_BYTES"],
    ["buffer.speculative.max_size", "HOLDFAST_BUFFER_SPECULATIVE_MAX_SIZE"],
    ["buffer.speculative.context_window", "HOLDFAST_BUFFER_SPECULATIVE_CONTEXT_WINDOW"],
    ["buffer.speculative.max_bytes", "HOLDFAST_BUFFER_SPECULATIVE_MAX_BYTES"],
    ["buffer.speculative.predictors", "HOLDFAST_BUFFER_SPECULATIVE_PREDICTORS"],
    ["embedding.base_url", "HOLDFAST_EMBEDDING_BASE_URL"],
    ["embedding.api_key", "HOLDFAST_EMBEDDING_API_KEY"],
    ["embedding.timeout_ms", "HOLDFAST_EMBEDDING_TIMEOUT_MS"],
    ["embedding.batch_size", "HOLDFAST_EMBEDDING_BATCH_SIZE"],
    ["embedding.dimensions", "HOLDFAST_EMBEDDING_DIMENSIONS"],
    ["embedding.tokens_max", "HOLDFAST_EMBEDDING_TOKENS_MAX"],
    ["qdrant.url", "HOLDFAST_QDRANT_URL"],
    ["qdrant.api_key", "HOLDFAST_QDRANT_API_KEY"],
    ["qdrant.collection", "HOLDFAST_QDRANT_COLLECTION"],
    ["extraction.base_url", "HOLDFAST_EXTRACTION_BASE_URL"],
    ["extraction.model", "HOLDFAST_EXTRACTION_MODEL"],
    ["extraction.api_key", "HOLDFAST_EXTRACTION_API_KEY"],
    ["extraction.timeout_ms", "HOLDFAST_EXTRACTION_TIMEOUT_MS"],
    ["server.host", "HOLDFAST_SERVER_HOST"],
    ["server.port", "HOLDFAST_SERVER_PORT"],
    ["server.require_key", "HOLDFAST_SERVER_REQUIRE_KEY"],
    ["server.allowed_hosts", "HOLDFAST_SERVER_ALLOWED_HOSTS"],
    ["server.allowed_origins", "HOLDFAST_SERVER_ALLOWED_ORIGINS"],
    ["server.max_body_bytes", "HOLDFAST_SERVER_MAX_BODY_BYTES"],
    ["server.max_requests", "HOLDFAST_SERVER_MAX_REQUESTS"],
    ["server.rate_per_second", "HOLDFAST_SERVER_RATE_PER_SECOND"],
    ["server.log_level", "HOLDFAST_SERVER_LOG_LEVEL"],
  ]);
});

test("the table of test values has every key", () => {
  expect(readable.map((key) => key.code).sort()).toEqual(Object.keys(VALUES).sort());
});

describe.each(readable)("$code", ({ code, file, env }) => {
  const [inFile, inEnv, inCode] = VALUES[code] ?? [];
  const source = join(folder, `${code}.yaml`);
  const tree = nested(file, inFile);
  writeFileSync(source, JSON.stringify({ ...tree, store: { path: "x.db", ...(tree["store"] as object) } }));

  test("is read from the file", () => expect(at(loadConfig({ file: source }), code)).toBe(inFile));
  test("is read from the environment, over the file", () => {
    expect(at(loadConfig({ file: source, env: { [env]: String(inEnv) } }), code)).toBe(inEnv);
  });
  test("is read from code, over the environment", () => {
    const options = nested(code, inCode) as Options;
    expect(at(loadConfig({ file: source, env: { [env]: String(inEnv) }, code: options }), code)).toBe(inCode);
  });
  test("falls back to the environment if code gives undefined", () => {
    const options = nested(code, undefined) as Options;
    expect(at(loadConfig({ env: { HOLDFAST_STORE_PATH: "a.db", [env]: String(inEnv) }, code: options }), code)).toBe(
      inEnv,
    );
  });
  const wrong = [null, "", [], {}, true, -1, 1.5, Number.NaN, 1e300].filter(
    (value) => typeof value !== typeof inFile || value === "" || typeof value === "number",
  );
  test.each(wrong)("refuses %j in code", (value) => {
    expect(() => loadConfig({ code: { path: "a.db", ...nested(code, value) } })).toThrow(
      `options in code: ${code} must be `,
    );
  });
  test("refuses an empty variable", () => {
    expect(() => loadConfig({ env: { [env]: "" } })).toThrow(`environment: ${env} must be `);
  });
});

test.each([
  ["store.busyTimeoutMs", 0, 3_600_000],
  ["buffer.writeBuffer.maxWaitingBytes", 1, 2 ** 40],
  ["buffer.writeBuffer.maxWaitMs", 0, 3_600_000],
  ["buffer.query.maxSize", 1, 1000],
  ["buffer.query.cacheSize", 0, 100_000],
  ["buffer.query.maxBytes", 1_048_576, 4_294_967_295],
  ["buffer.closeMs", 0, 3_600_000],
  ["buffer.maxProcessBytes", 0, 1024 * 1024 * 1024 * 1024],
  ["buffer.roundBuffer.maxTokens", 1, 1_000_000],
  ["buffer.roundBuffer.maxSize", 1, 10_000],
  ["buffer.roundBuffer.idleMs", 1, 86_400_000],
  ["buffer.hybridBuffer.maxSize", 1, 10_000],
  ["buffer.hybridBuffer.idleMs", 1, 86_400_000],
  ["buffer.hybridBuffer.forceMs", 1, 86_400_000],
  ["buffer.hybridBuffer.maxBytes", 1, 2 ** 30],
  ["buffer.hybridBuffer.leaseMs", 30, 3_600_000],
  ["embedding.timeoutMs", 1, 3_600_000],
  ["embedding.batchSize", 1, 10_000],
  ["embedding.dimensions", 1, 65_536],
  ["embedding.tokensMax", 1, 10_000_000],
])("%s is from %d to %d", (code, min, max) => {
  const load = (value: number) => loadConfig({ code: { path: "a.db", ...nested(code, value) } });
  for (const value of [min, max]) expect(at(load(value), code)).toBe(value);
  for (const value of [min - 1, max + 1]) {
    expect(() => load(value)).toThrow(`${code} must be a whole number from ${min} to ${max}, got ${value}`);
  }
});
