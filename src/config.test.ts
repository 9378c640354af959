import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type ConfigSources, ignoredVariables, loadConfig, readConfig } from "./config.js";
import { HoldfastError } from "./errors.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function yaml(text: string): string {
  const file = join(folder, `${++files}.yaml`);
  writeFileSync(file, text);
  return file;
}

function refusal(sources: ConfigSources | { code: unknown }): HoldfastError {
  try {
    loadConfig(sources as ConfigSources);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "config") return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** Variables that Kubernetes sets in every container for a Service with one named port, and with a second UDP port. */
function serviceVariables(service: string): { [name: string]: string } {
  const host = "10.0.0.1";
  const port = (number: number, protocol: "tcp" | "udp") => {
    const name = `${service}_PORT_${number}_${protocol.toUpperCase()}`;
    return {
      [name]: `${protocol}://${host}:${number}`,
      [`${name}_PROTO`]: protocol,
      [`${name}_PORT`]: String(number),
      [`${name}_ADDR`]: host,
    };
  };
  return {
    [`${service}_SERVICE_HOST`]: host,
    [`${service}_SERVICE_PORT`]: "8000",
    [`${service}_SERVICE_PORT_HTTP`]: "8000",
    [`${service}_SERVICE_PORT_MY_METRICS`]: "9000",
    [`${service}_PORT`]: `tcp://${host}:8000`,
    ...port(8000, "tcp"),
    ...port(9000, "udp"),
  };
}

const base = { env: { HOLDFAST_STORE_PATH: "base.db" } };

describe("the clock", () => {
  const clock = { now: () => 7, passed: () => 7, after: () => () => {} };
  test("is read from code", () => expect(loadConfig({ ...base, code: { clock } }).clock).toBe(clock));
  test("is refused if it cannot tell the time", () => {
    for (const half of [{ now: () => 5 }, { after: () => () => {} }, 5, null]) {
      expect(refusal({ ...base, code: { clock: half } }).message).toContain("clock must be a clock with now()");
    }
  });
  test("can only be set in code", () => {
    expect(refusal({ file: yaml("clock: system") }).message).toContain(":1: clock can only be set in code");
    expect(refusal({ env: { HOLDFAST_CLOCK: "system" } }).message).toContain("HOLDFAST_CLOCK can only be set in code");
  });
});

describe("the path", () => {
  test("is required, and the error says where to set it", () => {
    const error = refusal({});
    expect(error.message).toBe("path is missing");
    expect(error.hint).toBe("set path in code, store.path in the file, or HOLDFAST_STORE_PATH");
  });
  test("is not a path with NUL", () => expect(refusal({ code: { path: "a\0b" } }).message).toContain("path must be"));
});

describe("unknown keys name the place and the nearest right one", () => {
  const ok = "store:\n  path: a.db\n";
  test.each([
    ["buffer:\n  querry:\n    max_size: 3", "buffer.querry.max_size; did you mean buffer.query.max_size?", 5],
    ["buffer:\n  query:\n    maxSize: 3", "buffer.query.maxSize; did you mean buffer.query.max_size?", 5],
    [
      "bufer:\n  query:\n    default_order: asc",
      "bufer.query.default_order; did you mean buffer.query.default_order?",
      5,
    ],
    ["path: b.db", "path; did you mean store.path?", 3],
    ["busy_timeout_ms: 5", "busy_timeout_ms; did you mean store.busy_timeout_ms?", 3],
    ["zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: 5", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", 3],
    ["__proto__:\n  path: b.db", "__proto__.path; did you mean store.path?", 4],
    [
      "buffer:\n  speculatve:\n    max_size: 9",
      "buffer.speculatve.max_size; did you mean buffer.speculative.max_size?",
      5,
    ],
  ])("in the file: %j", (text, message, line) => {
    const file = yaml(ok + text);
    const error = refusal({ file });
    expect(error.message).toBe(`${file}:${line}: unknown key ${message}`);
    expect(error.hint).toMatch(
      text.startsWith("buffer:\n  query:")
        ? /^known: buffer\.query\.max_size, .*buffer\.query\.max_bytes$/
        : /^known: [^\n]+$/,
    );
  });
  test("in the environment", () => {
    expect(refusal({ env: { HOLDFAST_BUFFER_QUERRY_MAX_SIZE: "3" } }).message).toBe(
      "environment: unknown key HOLDFAST_BUFFER_QUERRY_MAX_SIZE; did you mean HOLDFAST_BUFFER_QUERY_MAX_SIZE?",
    );
    expect(refusal({ env: { HOLDFAST_CONFIGG: "x" } }).message).toContain("did you mean HOLDFAST_CONFIG?");
    expect(refusal({ env: { HOLDFAST_PATH: "x" } }).message).toContain("did you mean HOLDFAST_STORE_PATH?");
  });
  test("with the keys of its section, not with all", () => {
    expect(refusal({ file: yaml(`${ok}stroe: 5`) }).hint).toBe(
      "known: store, buffer, embedding, qdrant, extraction, server",
    );
    expect(refusal({ code: { store: { paht: 3 } } }).hint).toBe("known: store.busyTimeoutMs");
    expect(refusal({ env: { HOLDFAST_STORE_PTH: "x" } }).hint).toBe(
      "known: HOLDFAST_STORE_PATH, HOLDFAST_STORE_BUSY_TIMEOUT_MS",
    );
  });
  test("in code", () => {
    expect(refusal({ code: { buffer: { querry: { maxSize: 3 } } } }).message).toBe(
      "options in code: unknown key buffer.querry.maxSize; did you mean buffer.query.maxSize?",
    );
    expect(refusal({ code: { store: { path: "x" } } }).message).toContain("did you mean path?");
    expect(refusal({ code: { clok: 5 } }).message).toContain("unknown key clok; did you mean clock?");
  });
  test("a dotted key must be nested", () => {
    expect(refusal({ file: yaml("store.path: x") }).message).toContain('"store.path" must be nested');
  });
});

describe("the file", () => {
  test("is absent if HOLDFAST_CONFIG is empty", () => {
    expect(loadConfig({ env: { HOLDFAST_CONFIG: "", HOLDFAST_STORE_PATH: "x.db" } }).path).toBe("x.db");
  });

  test("is named by the caller, or else by HOLDFAST_CONFIG", () => {
    const [one, two] = [yaml("store: { path: one.db }"), yaml("store: { path: two.db }")];
    expect(loadConfig({ env: { HOLDFAST_CONFIG: one } }).path).toBe("one.db");
    expect(loadConfig({ file: two, env: { HOLDFAST_CONFIG: one } }).path).toBe("two.db");
  });
  test("that does not exist is an error", () => {
    const file = join(folder, "no.yaml");
    expect(refusal({ file }).message).toBe(`the configuration file ${file} does not exist`);
    expect(refusal({ file: folder }).message).toContain(`the configuration file ${folder} cannot be read: `);
  });
  test.each([
    ["store:\n\tpath: x", 2],
    ["store:\n  path: 'x\n", 3],
    ["store:\n  path: a\n  path: b", 3],
    ["store: {}\n---\nstore: {}", 2],
    ["store:\n  path: !what x", 2],
    ["store:\n  path: [x", 2],
  ])("with broken YAML tells the line: %j", (text, line) => {
    const file = yaml(text);
    const error = refusal({ file });
    expect(error.message).toMatch(/: not valid YAML: ./);
    expect(error.message.startsWith(`${file}:${line}: `)).toBe(true);
    expect(error.hint).toContain("spaces, not tabs");
  });
  test("with an endless expansion of aliases is refused", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i},`.repeat(9)}]`).join("\n");
    expect(refusal({ file: yaml(`x0: &x0 [a]\n${levels}`) }).message).toContain("not valid YAML");
  });
  test.each(["", "# nothing\n", "buffer:\n", "buffer:\n  query:\n    # max_size: 3\n", "\uFEFFbuffer: {}\n"])(
    "may omit everything: %j",
    (text) => expect(loadConfig({ ...base, file: yaml(text) }).buffer.query.maxSize).toBe(1000),
  );
  test.each(["- a", "5", "text", "buffer: 5", "buffer: [1]", "buffer:\n  query: yes"])(
    "consists of groups: %j",
    (text) => {
      expect(refusal({ ...base, file: yaml(text) }).message).toContain("must be a group of keys, got ");
    },
  );
  test("keeps the types of YAML", () => {
    const file = yaml('buffer:\n  query:\n    max_size: "15"');
    expect(refusal({ file }).message).toBe(
      `${file}:3: buffer.query.max_size must be a whole number from 1 to 1000, got "15"`,
    );
    expect(refusal({ file: yaml("store:\n  path: ~") }).message).toContain("store.path must be the path of a file");
  });
});

describe("the environment", () => {
  test("is not read unless given", () => {
    process.env["HOLDFAST_STORE_PATH"] = "leak.db";
    try {
      expect(refusal({}).message).toBe("path is missing");
    } finally {
      delete process.env["HOLDFAST_STORE_PATH"];
    }
  });
  test("may contain variables of the project's tests, of other programs, and undefined ones", () => {
    const env = { ...base.env, HOLDFAST_TEST_KILLS: "500", HOLD: "x", PATH: "/bin", HOLDFAST_ZZZ: undefined };
    expect(loadConfig({ env }).path).toBe("base.db");
  });
  test("may contain the command line's server and key", () => {
    const env = { ...base.env, HOLDFAST_URL: "http://127.0.0.1:8000", HOLDFAST_KEY: "hf_x" };
    expect(loadConfig({ env }).path).toBe("base.db");
    const error = refusal({ env: { ...base.env, HOLDFAST_URI: "x" } });
    expect(error.message).toContain("did you mean HOLDFAST_URL?");
    expect(error.hint).toBe("`holdfast config` prints all variables");
  });
  test.each(["many", "-1", "1e3", "0x10", " 5", "5.0", "99999999999999999999"])("has whole numbers: %j", (text) => {
    const env = { ...base.env, HOLDFAST_BUFFER_QUERY_MAX_SIZE: text };
    expect(refusal({ env }).message).toBe(
      `environment: HOLDFAST_BUFFER_QUERY_MAX_SIZE must be a whole number from 1 to 1000, got ${JSON.stringify(text)}`,
    );
  });
});

test("every error has a hint, where a wrong value and a wrong group had none", () => {
  expect(refusal({ code: { server: { port: "many" } } }).hint).toBe("correct it, or leave it out for the default");
  expect(refusal({ code: { buffer: 5 } }).hint).toContain("nest its keys");
});

describe("variables that match no option", () => {
  const ignored = (env: { [name: string]: string }) => {
    expect(loadConfig({ env: { ...base.env, ...env } }).path).toBe("base.db");
    return ignoredVariables({ ...base.env, ...env });
  };

  test.each(["HOLDFAST", "HOLDFAST_SERVER", "HOLDFAST_STORE_PATH", "HOLDFAST_BUFFER_QUERY"])(
    "of a Kubernetes Service %s do not stop the program",
    (service) => {
      const env = serviceVariables(service);
      expect(ignored(env)).toEqual(Object.keys(env));
      expect(loadConfig({ env: { ...base.env, ...env } }).server.port).toBe(8000);
    },
  );
  test.each(["HOLDFAST_SERVER_KEY_REQUIRED", "HOLDFAST_SERVER_RATE_LIMIT", "HOLDFAST_BUFFER_SIZE"])(
    "of a section of options stop the program: %s",
    (name) => {
      expect(() => loadConfig({ env: { ...base.env, [name]: "1" } })).toThrow(name);
    },
  );
  test("are ignored if they are not similar to an option", () => {
    const env = {
      HOLDFAST_IMAGE: "x",
      HOLDFAST_REPLICAS: "3",
      HOLDFAST_CLOK: "x",
      HOLDFAST_NAMESPACE: "",
      HOLDFAST_: "",
    };
    expect(ignored(env)).toEqual(Object.keys(env));
  });
  test("do not include those that are read, set by tests, or of other programs", () => {
    const env = { HOLDFAST_URL: "x", HOLDFAST_KEY: "x", HOLDFAST_CONFIG: "", HOLDFAST_TEST_KILLS: "1", PORT: "80" };
    expect(ignored(env)).toEqual([]);
  });
  test.each([
    ["HOLDFAST_PORT", "8000", "HOLDFAST_SERVER_PORT"],
    ["HOLDFAST_SERVER_PROT", "8000", "HOLDFAST_SERVER_PORT"],
    ["HOLDFAST_SERVERPORT", "8000", "HOLDFAST_SERVER_PORT"],
    ["HOLDFAST_HOST", "::1", "HOLDFAST_SERVER_HOST"],
    ["HOLDFAST_STORE_PTH", "a.db", "HOLDFAST_STORE_PATH"],
    ["HOLDFAST_EMBEDDING_MODEL", "none", "HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL"],
  ])("stay errors when they are a known name misspelt: %s", (name, text, meant) => {
    const env = { ...base.env, [name]: text };
    expect(refusal({ env }).message).toContain(`unknown key ${name}; did you mean ${meant}?`);
    expect(ignoredVariables(env)).toEqual([]); // refused, not ignored
  });
});

test("options in code are an object of objects", () => {
  for (const code of [null, 5, "x", []]) {
    expect(refusal({ code }).message).toContain("options in code: all of it must be a group of keys, got ");
  }
  expect(refusal({ code: { buffer: null } }).message).toContain("buffer must be a group of keys, got null");
});

test("a fallback is overridden by file, environment and code, and overrides the option's own default", () => {
  const fallback = { path: "fallback.db", buffer: { query: { maxSize: 3 } } };
  expect(loadConfig({ fallback })).toMatchObject({ path: "fallback.db", buffer: { query: { maxSize: 3 } } });
  expect(loadConfig({ fallback, file: yaml("store:\n  path: file.db") }).path).toBe("file.db");
  expect(loadConfig({ ...base, fallback }).path).toBe("base.db");
  expect(loadConfig({ ...base, fallback, code: { path: "code.db" } }).path).toBe("code.db");
  expect(refusal({ fallback: { pth: "x" } } as ConfigSources).message).toContain("fallback in code: unknown key pth");
});

describe("the origin of an option", () => {
  const originOf = (sources: ConfigSources, name: string) =>
    readConfig(sources).settings.find((one) => one.name === name)?.origin;

  test("is the last source that sets it", () => {
    const file = yaml("store:\n  path: a.db\nbuffer:\n  # a comment\n  query:\n    cache_size: 7\n");
    const name = "buffer.query.cache_size";
    const variable = "HOLDFAST_BUFFER_QUERY_CACHE_SIZE";
    const fallback = { buffer: { query: { cacheSize: 5 } } };
    const env = { [variable]: "8" };
    const code = { buffer: { query: { cacheSize: 9 } } };
    expect(originOf(base, name)).toEqual({ from: "default" });
    expect(originOf({ ...base, fallback }, name)).toEqual({ from: "program" });
    expect(originOf({ file, fallback }, name)).toEqual({ from: "file", path: file, line: 6 });
    expect(originOf({ file, fallback, env }, name)).toEqual({ from: "environment", variable });
    expect(originOf({ file, fallback, env, code }, name)).toEqual({ from: "code" });
  });

  test("stands beside its value, its default, and all its names", () => {
    const { settings, options } = readConfig({ ...base, code: { buffer: { closeMs: 1 } } });
    expect(settings.find(({ name }) => name === "buffer.close_ms")).toEqual({
      name: "buffer.close_ms",
      variable: "HOLDFAST_BUFFER_CLOSE_MS",
      value: options.buffer.closeMs,
      fallback: 5_000,
      isSet: true,
      isSecret: false,
      origin: { from: "code" },
    });
  });

  test("of a secret comes without the secret", () => {
    const url = "https://me:secret1@index.example.com:6333/path/?key=secret2#secret3";
    const { settings } = readConfig({ ...base, code: { qdrant: { url, apiKey: "secret4" } } });
    expect(JSON.stringify(settings)).not.toMatch(/secret\d/);
    const of = (name: string) => settings.find((one) => one.name === name);
    expect(of("qdrant.url")).toMatchObject({ value: "https://index.example.com:6333/path", isSet: true });
    expect(of("qdrant.api_key")).toMatchObject({ isSecret: true, isSet: true });
    expect(of("qdrant.api_key")).not.toHaveProperty("value");
  });

  test("of an object given in code is listed without the object", () => {
    const clock = { now: () => 7, passed: () => 7, after: () => () => {} };
    const of = (sources: ConfigSources) => readConfig(sources).settings.find(({ name }) => name === "clock");
    expect(of(base)).toBeUndefined();
    expect(of({ ...base, code: { clock } })).toEqual({
      name: "clock",
      isSet: true,
      isSecret: false,
      origin: { from: "code" },
    });
  });
});
