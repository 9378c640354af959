/** Loads the options: from a YAML file, overridden by the environment, overridden by code. */
import { createRequire } from "node:module";
import type { Document } from "yaml";
import { HoldfastError } from "./errors.js";
import { didYouMean, nearest } from "./input/nearest.js";
import { quote, typeOf } from "./input/refusal.js";
import { type Field, OPTIONS, type Options, type ResolvedOptions } from "./options.js";
import { readPlainFile } from "./plain-file.js";
import { decodeUtf8 } from "./text.js";

const require = createRequire(import.meta.url);

export interface ConfigSources {
  /** The YAML file. If absent, `HOLDFAST_CONFIG` in the environment names it. */
  readonly file?: string | undefined;
  /** The environment; read only if it is given. */
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
  readonly code?: Options | undefined;
  /** Defaults that replace the options' own. */
  readonly fallback?: Options | undefined;
}

/** An option by all its names. */
export interface Key {
  readonly code: string;
  readonly file: string;
  readonly env: string;
  readonly option: Field<unknown>;
}

/** The environment variable that names the YAML file. */
const CONFIG_VARIABLE = "HOLDFAST_CONFIG";
const PREFIX = "HOLDFAST_";
/** Variables that the library does not read: the command line's server and key. */
const OTHER_VARIABLES: readonly string[] = ["HOLDFAST_URL", "HOLDFAST_KEY"];
/** Variables of the project's own tests and benchmarks, ignored by the library. */
const TEST_PREFIX = "HOLDFAST_TEST_";
/** Set by Kubernetes in every container for a Service whose name begins with "holdfast", as Docker links did. */
const SERVICE_VARIABLE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;
/** An unknown variable is treated as misspelt if at most this share of its letters differs from a known one. */
const SHARE_MISSPELT_MAX = 0.34;

/** All keys, from the one table in options.ts. */
export const KEYS: readonly Key[] = keysOf(OPTIONS, "");

function keysOf(group: object, prefix: string): Key[] {
  return Object.entries(group).flatMap(([name, option]) => {
    const code = prefix + name;
    if (!("accepts" in option)) return keysOf(option, `${code}.`);
    const file = option.fileKey ?? code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [{ code, file, env: PREFIX + file.replaceAll(".", "_").toUpperCase(), option }];
  });
}

/**
 * Where the value of an option comes from. default: its own default · program: a default of the program that opened the
 * memory · file: this line of the YAML file · environment: this variable · code: an argument in code, or a flag of the
 * command line.
 */
export type ConfigOrigin =
  | { readonly from: "default" | "program" | "code" }
  | { readonly from: "file"; readonly path: string; readonly line: number }
  | { readonly from: "environment"; readonly variable: string };

/** An option that is in force, and where its value comes from. */
export interface ConfigSetting {
  /** Its key in the YAML file; its name in code if it can only be set there. */
  readonly name: string;
  /** The environment variable that sets it. */
  readonly variable?: string;
  /** Absent if it has none, is a secret, or can only be set in code. An address comes without credentials. */
  readonly value?: string | number | boolean;
  /** The value of the option if nothing sets it. */
  readonly fallback?: string | number | boolean;
  /** Whether it has a value, also if that is not shown. */
  readonly isSet: boolean;
  /** True if its value is never shown. */
  readonly isSecret: boolean;
  /** Where the value comes from. */
  readonly origin: ConfigOrigin;
}

export interface LoadedConfig {
  readonly options: ResolvedOptions;
  readonly settings: readonly ConfigSetting[];
}

/** A source of options: how it spells keys, and where its values come from. */
interface OptionSource {
  readonly spelling: "code" | "file" | "env";
  origin(key: string): ConfigOrigin;
}

type Settings = Map<Key, { readonly value: unknown; readonly origin: ConfigOrigin }>;

/** The options from all sources. Throws `config` with the place, the key, and the nearest valid key. */
export const loadConfig = (sources: ConfigSources): ResolvedOptions => readConfig(sources).options;

/** As `loadConfig`, with the origin of each option. */
export function readConfig({ file, env = {}, code = {}, fallback = {} }: ConfigSources): LoadedConfig {
  const settings: Settings = new Map();
  readGroup(fallback, "", { spelling: "code", origin: () => ({ from: "program" }) }, settings);
  const path = file ?? (env[CONFIG_VARIABLE] || undefined); // an empty variable counts as absent
  if (path !== undefined) readFile(path, settings);
  readEnvironment(env, settings);
  readGroup(code, "", { spelling: "code", origin: () => ({ from: "code" }) }, settings);
  return { options: resolve(settings), settings: KEYS.flatMap((key) => settingOf(key, settings)) };
}

/** What is only set in code is an object; it is listed if it is given. */
function settingOf(key: Key, settings: Settings): readonly ConfigSetting[] {
  const { option, file, env } = key;
  const { value = option.fallback, origin = DEFAULT } = settings.get(key) ?? {};
  const isSet = value !== undefined;
  if (option.codeOnly) return origin === DEFAULT ? [] : [{ name: key.code, isSet, isSecret: false, origin }];
  const isSecret = option.hides === "value";
  return [
    {
      name: file,
      variable: env,
      ...(isSet && !isSecret && { value: shown(option, value) }),
      ...(option.fallback !== undefined && { fallback: option.fallback as string | number | boolean }),
      ...{ isSet, isSecret, origin },
    },
  ];
}

const DEFAULT: ConfigOrigin = { from: "default" };

/** An address may contain a password, or a token in its query. */
function shown({ hides }: Field<unknown>, value: unknown): string | number | boolean {
  if (hides !== "credentials") return value as string | number | boolean;
  const { origin, pathname } = new URL(value as string);
  return origin + pathname.replace(/\/$/, "");
}

function resolve(settings: Settings): ResolvedOptions {
  const resolved = {};
  for (const key of KEYS) {
    const value = settings.get(key)?.value ?? key.option.fallback;
    if (value === undefined && !key.option.optional) {
      throw refuse(`${key.code} is missing`, `set ${key.code} in code, ${key.file} in the file, or ${key.env}`);
    }
    const steps = key.code.split(".");
    const last = steps.pop() as string;
    let group: { [step: string]: unknown } = resolved;
    for (const step of steps) {
      group[step] ??= {};
      group = group[step] as typeof group;
    }
    group[last] = value;
  }
  return resolved as ResolvedOptions;
}

const ENVIRONMENT: OptionSource = { spelling: "env", origin: (variable) => ({ from: "environment", variable }) };
type Environment = NonNullable<ConfigSources["env"]>;

function readEnvironment(env: Environment, settings: Settings): void {
  for (const [name, text] of ownVariables(env)) {
    const key = keyOf(name, text);
    if (key) set(key, key.option.fromText(text), name, ENVIRONMENT, settings);
    else if (isMisspelt(name, text)) throw unknownKey(name, ENVIRONMENT);
  }
}

/**
 * The variables with our prefix that match no option, are not similar to one, and are in no section of options. They
 * are ignored: other programs may set them, above all Kubernetes. The library prints nothing; programs print the names
 * once.
 */
export function ignoredVariables(env: Environment): readonly string[] {
  return ownVariables(env).flatMap(([name, text]) => (keyOf(name, text) || isMisspelt(name, text) ? [] : [name]));
}

function ownVariables(env: Environment): readonly (readonly [name: string, text: string])[] {
  const others = [CONFIG_VARIABLE, ...OTHER_VARIABLES];
  return Object.entries(env).flatMap(([name, text]) => {
    const isOurs = name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !others.includes(name);
    return text === undefined || !isOurs ? [] : [[name, text] as const];
  });
}

/**
 * The option that a variable sets. A port given as an address is from Kubernetes, for a Service such as
 * `holdfast-server`.
 */
function keyOf(name: string, text: string): Key | undefined {
  if (isServiceVariable(name, text)) return undefined;
  return KEYS.find((one) => one.env === name);
}

/** Similar to an option, or in a section of options: HOLDFAST_SERVER_KEY_REQUIRED must not be ignored silently. */
function isMisspelt(name: string, text: string): boolean {
  if (isServiceVariable(name, text)) return false;
  const known = namesIn(ENVIRONMENT).map((one) => one.slice(PREFIX.length));
  const own = name.slice(PREFIX.length);
  const isOfSection = known.some((one) => one.includes("_") && own.startsWith(one.slice(0, one.indexOf("_") + 1)));
  return isOfSection || nearest(own, known, SHARE_MISSPELT_MAX) !== undefined;
}

const isServiceVariable = (name: string, text: string): boolean =>
  SERVICE_VARIABLE.test(name) || (name.endsWith("_PORT") && SERVICE_ADDRESS.test(text));

/** Loaded only if there is a file. */
const yaml = () => require("yaml") as typeof import("yaml");

function readFile(path: string, settings: Settings): void {
  const { LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(textOf(path), { lineCounter: lines });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) {
    const [first = ""] = problem.message.split("\n");
    const message = `${path}:${lines.linePos(problem.pos[0]).line}: not valid YAML: ${first.replace(/ at line .*$/, "")}`;
    throw refuse(message, "YAML nests by spaces, not tabs, and wants a space after each colon", problem);
  }
  const lineOf = (key: string): number => lines.linePos(offsetOf(document.contents, key)).line;
  const source: OptionSource = { spelling: "file", origin: (key) => ({ from: "file", path, line: lineOf(key) }) };
  readGroup(contentsOf(document, path) ?? {}, "", source, settings);
}

function textOf(path: string): string {
  try {
    return decodeUtf8(readPlainFile(path), "it");
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const problem = missing ? "does not exist" : `cannot be read: ${(cause as Error).message}`;
    throw refuse(
      `the configuration file ${path} ${problem}`,
      `${CONFIG_VARIABLE} or the caller names this file`,
      cause,
    );
  }
}

function contentsOf(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw refuse(`${path}: not valid YAML: ${(cause as Error).message}`, "write the values out", cause);
  }
}

/** The offset of a key in the text; that of the nearest group around it if the key has none. */
function offsetOf(root: unknown, key: string): number {
  const { isMap, isScalar } = yaml();
  let node = root;
  let offset = 0;
  for (const step of key.split(".")) {
    const pair = isMap(node)
      ? node.items.find((one) => isScalar(one.key) && String(one.key.value) === step)
      : undefined;
    if (!isScalar(pair?.key)) break;
    offset = pair.key.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}

function readGroup(group: unknown, prefix: string, source: OptionSource, settings: Settings): void {
  if (typeof group !== "object" || group === null || Array.isArray(group)) {
    const name = prefix.slice(0, -1);
    throw refuse(
      `${placeIn(source, name)}: ${name || "all of it"} must be a group of keys, got ${typeOf(group)}`,
      GROUPED,
    );
  }
  for (const [name, value] of Object.entries(group)) {
    if (value === undefined) continue;
    const path = prefix + name;
    const dotted = name.includes(".");
    const key = dotted ? undefined : KEYS.find((one) => one[source.spelling] === path);
    const isGroup = !dotted && KEYS.some((one) => one[source.spelling].startsWith(`${path}.`));
    // A group in the file whose keys are all commented out is null.
    const isEmpty = value === null && source.spelling === "file";
    if (key) set(key, value, path, source, settings);
    else if (!isGroup) throw unknownKey(firstLeaf(path, value), source);
    else if (!isEmpty) readGroup(value, `${path}.`, source, settings);
  }
}

/** How error messages refer to a place in a source. */
function placeIn(source: OptionSource, key: string): string {
  const origin = source.origin(key);
  if (origin.from === "file") return `${origin.path}:${origin.line}`;
  if (origin.from === "environment") return "environment";
  return origin.from === "program" ? "fallback in code" : "options in code";
}

const GROUPED = "nest its keys: { buffer: { query: { maxSize: 20 } } } in code, indented lines in a file";

/** The first full key at or below a path: the name that a user would use for it. */
function firstLeaf(path: string, value: unknown, levels = 8): string {
  if (typeof value !== "object" || value === null || Array.isArray(value) || levels === 0) return path;
  const [first] = Object.entries(value);
  return first === undefined ? path : firstLeaf(`${path}.${first[0]}`, first[1], levels - 1);
}

function set(key: Key, value: unknown, name: string, source: OptionSource, settings: Settings): void {
  const { option } = key;
  const place = placeIn(source, name);
  if (option.codeOnly && source.spelling !== "code") {
    throw refuse(`${place}: ${name} can only be set in code`, `openMemory({ ${key.code}: … })`);
  }
  if (!option.accepts(value)) {
    const got = typeof value === "string" ? quote(value) : typeof value === "number" ? String(value) : typeOf(value);
    throw refuse(
      `${place}: ${name} must be ${option.expected}, got ${got}`,
      "correct it, or leave it out for the default",
    );
  }
  settings.set(key, { value, origin: source.origin(name) });
}

/** The names that a source may use. */
function namesIn({ spelling }: OptionSource): readonly string[] {
  const names = KEYS.filter(({ option }) => spelling === "code" || !option.codeOnly).map((key) => key[spelling]);
  return spelling === "env" ? [...names, CONFIG_VARIABLE, ...OTHER_VARIABLES] : names;
}

function unknownKey(name: string, source: OptionSource): HoldfastError {
  const names = namesIn(source);
  if (names.includes(name))
    return refuse(`${placeIn(source, name)}: ${quote(name)} must be nested, one level per dot`, GROUPED);
  // The common prefix of all variables is no evidence of which one was meant.
  const common = source.spelling === "env" ? PREFIX : "";
  const bare = names.map((one) => one.slice(common.length));
  const meant = didYouMean(name.slice(common.length), bare, (right) => common + right);
  return refuse(`${placeIn(source, name)}: unknown key ${name}${meant}`, hintFor(name, source));
}

/** The names of the smallest section that the given one would be in; if there is none, the sections. */
function hintFor(name: string, source: OptionSource): string {
  const names = namesIn(source);
  const separator = source.spelling === "env" ? "_" : ".";
  const steps = name.split(separator);
  for (let length = steps.length - 1; length > 0; length--) {
    const section = steps.slice(0, length).join(separator) + separator;
    const known = section === PREFIX ? [] : names.filter((one) => one.startsWith(section));
    if (known.length > 0) return `known: ${known.join(", ")}`;
  }
  if (source.spelling === "env") return "`holdfast config` prints all variables";
  return `known: ${[...new Set(names.map((one) => one.split(".")[0]))].join(", ")}`;
}

function refuse(message: string, hint: string, cause?: unknown): HoldfastError {
  return new HoldfastError("config", message, { hint, cause });
}
