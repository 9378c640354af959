import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, expectTypeOf, test } from "vitest";
import { type Clock, systemClock } from "./clock.js";
import { KEYS, loadConfig } from "./config.js";
import type { Options, ResolvedOptions } from "./options.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the defaults are these", () => {
  expect(loadConfig({ code: { path: "a.db" } })).toStrictEqual({
    path: "a.db",
    store: { busyTimeoutMs: 10_000 },
    buffer: {
      writeBuffer: { maxWaitingBytes: 67_108_864, maxWaitMs: 5_000 },
      query: { maxSize: 15, defaultSortBy: "score", defaultOrder: "desc" },
    },
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
    if (option.built && option.fallback !== undefined)
      expect([code, option.accepts(option.fallback)]).toEqual([code, true]);
  }
});

test("the types name the keys that are built, and no others", () => {
  expectTypeOf<ResolvedOptions>().toEqualTypeOf<{
    readonly path: string;
    readonly store: { readonly busyTimeoutMs: number };
    readonly buffer: {
      readonly writeBuffer: { readonly maxWaitingBytes: number; readonly maxWaitMs: number };
      readonly query: {
        readonly maxSize: number;
        readonly defaultSortBy: "score" | "timestamp";
        readonly defaultOrder: "asc" | "desc";
      };
    };
    readonly clock: Clock;
  }>();
  // @ts-expect-error a key of a part that is not built
  const early: Options = { buffer: { roundBuffer: { maxTokens: 800 } } };
  // @ts-expect-error a key that does not exist
  const wrong: Options = { buffer: { query: { size: 3 } } };
  expect([early, wrong]).toHaveLength(2);
});

/** The nested form of one key, as the file or code would hold it. */
function nested(key: string, value: unknown): { [key: string]: unknown } {
  return key.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as { [key: string]: unknown };
}

function at(options: ResolvedOptions, key: string): unknown {
  return key.split(".").reduce<unknown>((inner, step) => (inner as { [key: string]: unknown })[step], options);
}

/** Per key: a value for the file, one for the environment, one for code; the first not the default, each unlike the last. */
const VALUES: { readonly [code: string]: readonly [file: unknown, env: unknown, code: unknown] } = {
  path: ["file.db", "env.db", "code.db"],
  "store.busyTimeoutMs": [1, 2, 0],
  "buffer.writeBuffer.maxWaitingBytes": [1024, 2048, 4096],
  "buffer.writeBuffer.maxWaitMs": [11, 12, 0],
  "buffer.query.maxSize": [1, 2, 1000],
  "buffer.query.defaultSortBy": ["timestamp", "score", "timestamp"],
  "buffer.query.defaultOrder": ["asc", "desc", "asc"],
};
const readable = KEYS.filter(({ option }) => option.built && !option.codeOnly);

test("each key has its documented names", () => {
  expect(readable.map(({ file, env }) => [file, env])).toEqual([
    ["store.path", "HOLDFAST_STORE_PATH"],
    ["store.busy_timeout_ms", "HOLDFAST_STORE_BUSY_TIMEOUT_MS"],
    ["buffer.write_buffer.max_waiting_bytes", "HOLDFAST_BUFFER_WRITE_BUFFER_MAX_WAITING_BYTES"],
    ["buffer.write_buffer.max_wait_ms", "HOLDFAST_BUFFER_WRITE_BUFFER_MAX_WAIT_MS"],
    ["buffer.query.max_size", "HOLDFAST_BUFFER_QUERY_MAX_SIZE"],
    ["buffer.query.default_sort_by", "HOLDFAST_BUFFER_QUERY_DEFAULT_SORT_BY"],
    ["buffer.query.default_order", "HOLDFAST_BUFFER_QUERY_DEFAULT_ORDER"],
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
  test("falls back to the environment when code says undefined", () => {
    const options = nested(code, undefined) as Options;
    expect(at(loadConfig({ env: { HOLDFAST_STORE_PATH: "a.db", [env]: String(inEnv) }, code: options }), code)).toBe(
      inEnv,
    );
  });
  test.each([null, "", [], {}, true, -1, 1.5, Number.NaN, 1e300])("refuses %j in code", (value) => {
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
])("%s is from %d to %d", (code, min, max) => {
  const load = (value: number) => loadConfig({ code: { path: "a.db", ...nested(code, value) } });
  for (const value of [min, max]) expect(at(load(value), code)).toBe(value);
  for (const value of [min - 1, max + 1]) {
    expect(() => load(value)).toThrow(`${code} must be a whole number from ${min} to ${max}, got ${value}`);
  }
});
