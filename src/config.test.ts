import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type ConfigSources, loadConfig } from "./config.js";
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

function nested(key: string, value: unknown): { [key: string]: unknown } {
  return key.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as { [key: string]: unknown };
}

const base = { env: { HOLDFAST_STORE_PATH: "base.db" } };

describe("the clock", () => {
  const clock = { now: () => 7, passed: () => 7, after: () => () => {} };
  test("is read from code", () => expect(loadConfig({ ...base, code: { clock } }).clock).toBe(clock));
  test("is refused when it cannot tell the time", () => {
    for (const half of [{ now: () => 5 }, { after: () => () => {} }, 5, null]) {
      expect(refusal({ ...base, code: { clock: half } }).message).toContain("clock must be a clock with now()");
    }
  });
  test("is for code only", () => {
    expect(refusal({ file: yaml("clock: system") }).message).toContain(":1: clock can only be given in code");
    expect(refusal({ env: { HOLDFAST_CLOCK: "system" } }).message).toContain(
      "HOLDFAST_CLOCK can only be given in code",
    );
  });
});

describe("the path", () => {
  test("has to be given, and the error says where", () => {
    const error = refusal({});
    expect(error.message).toBe("path is not given");
    expect(error.hint).toBe("give path in code, store.path in the file, or HOLDFAST_STORE_PATH");
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
      "buffer:\n  speculative_bufer: 9",
      "buffer.speculative_bufer; did you mean buffer.speculative_buffer (which is not built yet)?",
      4,
    ],
  ])("in the file: %j", (text, message, line) => {
    const file = yaml(ok + text);
    const error = refusal({ file });
    expect(error.message).toBe(`${file}:${line}: unknown key ${message}`);
    expect(error.hint).toContain("store.path, store.busy_timeout_ms, ");
  });
  test("in the environment", () => {
    expect(refusal({ env: { HOLDFAST_BUFFER_QUERRY_MAX_SIZE: "3" } }).message).toBe(
      "environment: unknown key HOLDFAST_BUFFER_QUERRY_MAX_SIZE; did you mean HOLDFAST_BUFFER_QUERY_MAX_SIZE?",
    );
    expect(refusal({ env: { HOLDFAST_CLOK: "x" } }).message).not.toContain("HOLDFAST_CLOCK");
    expect(refusal({ env: { HOLDFAST_CONFIGG: "x" } }).message).toContain("did you mean HOLDFAST_CONFIG?");
    expect(refusal({ env: { HOLDFAST_PATH: "x" } }).message).toContain("did you mean HOLDFAST_STORE_PATH?");
  });
  test("in code", () => {
    expect(refusal({ code: { buffer: { querry: { maxSize: 3 } } } }).message).toBe(
      "options in code: unknown key buffer.querry.maxSize; did you mean buffer.query.maxSize?",
    );
    expect(refusal({ code: { store: { path: "x" } } }).message).toContain("did you mean path?");
    expect(refusal({ code: { clok: 5 } }).message).toContain("unknown key clok; did you mean clock?");
  });
  test("a dotted key is to be nested", () => {
    expect(refusal({ file: yaml("store.path: x") }).message).toContain('"store.path" must be nested');
  });
});

describe("keys of parts that are not built are refused", () => {
  const names = [
    ["buffer.speculative_buffer.context_window", "the SpeculativeBuffer"],
    ["buffer.speculative_buffer.anything", "the SpeculativeBuffer"],
  ] as const;
  test.each(names)("%s", (key, part) => {
    const message = (name: string) => `${name} cannot be set: ${part} is not built yet`;
    const file = yaml(JSON.stringify(nested(key, 5)));
    expect(refusal({ file }).message).toBe(`${file}:1: ${message(key)}`);
    const variable = `HOLDFAST_${key.replaceAll(".", "_").toUpperCase()}`;
    expect(refusal({ env: { [variable]: "5" } }).message).toBe(`environment: ${message(variable)}`);
    const code = key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    expect(refusal({ code: nested(code, 5) }).message).toBe(`options in code: ${message(code)}`);
  });
});

describe("the file", () => {
  test("is none where HOLDFAST_CONFIG is empty", () => {
    expect(loadConfig({ env: { HOLDFAST_CONFIG: "", HOLDFAST_STORE_PATH: "x.db" } }).path).toBe("x.db");
  });

  test("is named by HOLDFAST_CONFIG, and by the caller over it", () => {
    const [one, two] = [yaml("store: { path: one.db }"), yaml("store: { path: two.db }")];
    expect(loadConfig({ env: { HOLDFAST_CONFIG: one } }).path).toBe("one.db");
    expect(loadConfig({ file: two, env: { HOLDFAST_CONFIG: one } }).path).toBe("two.db");
  });
  test("that does not exist is an error that says so", () => {
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
    "may leave everything out: %j",
    (text) => expect(loadConfig({ ...base, file: yaml(text) }).buffer.query.maxSize).toBe(15),
  );
  test.each(["- a", "5", "text", "buffer: 5", "buffer: [1]", "buffer:\n  query: yes"])(
    "is made of groups: %j",
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
      expect(refusal({}).message).toBe("path is not given");
    } finally {
      delete process.env["HOLDFAST_STORE_PATH"];
    }
  });
  test("may hold variables of the project's tests, of others, and undefined ones", () => {
    const env = { ...base.env, HOLDFAST_TEST_KILLS: "500", HOLD: "x", PATH: "/bin", HOLDFAST_ZZZ: undefined };
    expect(loadConfig({ env }).path).toBe("base.db");
  });
  test("may hold what the command line reads: a server and its key", () => {
    const env = { ...base.env, HOLDFAST_URL: "http://127.0.0.1:8000", HOLDFAST_KEY: "hf_x" };
    expect(loadConfig({ env }).path).toBe("base.db");
    const error = refusal({ env: { ...base.env, HOLDFAST_URI: "x" } });
    expect(error.message).toContain("did you mean HOLDFAST_URL?");
    expect(error.hint).toContain("HOLDFAST_KEY");
  });
  test.each(["many", "-1", "1e3", "0x10", " 5", "5.0", "99999999999999999999"])("has whole numbers: %j", (text) => {
    const env = { ...base.env, HOLDFAST_BUFFER_QUERY_MAX_SIZE: text };
    expect(refusal({ env }).message).toBe(
      `environment: HOLDFAST_BUFFER_QUERY_MAX_SIZE must be a whole number from 1 to 1000, got ${JSON.stringify(text)}`,
    );
  });
});

test("options in code are an object of objects", () => {
  for (const code of [null, 5, "x", []]) {
    expect(refusal({ code }).message).toContain("options in code: all of it must be a group of keys, got ");
  }
  expect(refusal({ code: { buffer: null } }).message).toContain("buffer must be a group of keys, got null");
});

test("a fallback holds under file, environment and code, and over the option's own default", () => {
  const fallback = { path: "fallback.db", buffer: { query: { maxSize: 3 } } };
  expect(loadConfig({ fallback })).toMatchObject({ path: "fallback.db", buffer: { query: { maxSize: 3 } } });
  expect(loadConfig({ fallback, file: yaml("store:\n  path: file.db") }).path).toBe("file.db");
  expect(loadConfig({ ...base, fallback }).path).toBe("base.db");
  expect(loadConfig({ ...base, fallback, code: { path: "code.db" } }).path).toBe("code.db");
  expect(refusal({ fallback: { pth: "x" } } as ConfigSources).message).toContain("fallback in code: unknown key pth");
});
