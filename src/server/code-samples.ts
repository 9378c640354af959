/** Code that sends the example of an operation: with curl, and with `holdfast/client`. */
import { type AnyExample, EXAMPLE_SCOPE } from "../schemas/example.js";
import { type Operation, partsOf } from "../schemas/operation.js";
import type { Scope } from "../types.js";

/** As tools that show OpenAPI documents expect it, in `x-codeSamples`. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** The server that the samples call. */
const SERVER = "http://127.0.0.1:8000";
const WIDTH_MAX = 76;

/** The scope that the example names; empty if the operation takes none. */
export const scopeOf = ({ scope }: Operation, example: AnyExample): Scope =>
  example.scope ?? (scope === "none" ? {} : EXAMPLE_SCOPE);

export function codeSamplesOf(prefix: string, operation: Operation, example: AnyExample): readonly CodeSample[] {
  const curl = { lang: "Shell", label: "curl", source: curlOf(prefix, operation, example) };
  if (example.call === undefined) return [curl];
  return [curl, { lang: "TypeScript", label: "holdfast/client", source: clientCode(operation, example) }];
}

function curlOf(prefix: string, operation: Operation, example: AnyExample): string {
  const { method, path } = partsOf(operation.route);
  const { params = {}, query = {}, body } = example;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams({ ...scopeOf(operation, example), ...query }).toString();
  const isImplied = method === "GET" || (method === "POST" && body !== undefined);
  const url = `'${SERVER}${prefix}${filled}${search === "" ? "" : `?${search}`}'`;
  return [
    ["curl", flagOf(operation), isImplied ? "" : `-X ${method}`, url].filter(Boolean).join(" "),
    ...(body === undefined ? [] : bodyFlags(operation, body)),
  ].join(" \\\n  ");
}

function flagOf({ media }: Operation): string {
  if (media?.response === "text/event-stream") return "-N";
  return media?.response === "application/vnd.sqlite3" ? "-OJ" : "";
}

function bodyFlags({ media }: Operation, body: unknown): readonly string[] {
  if (media?.request !== undefined) return [`-H 'content-type: ${media.request}'`, "--data-binary @memory.jsonl"];
  const short = JSON.stringify(body);
  const text = short.length <= WIDTH_MAX ? short : JSON.stringify(body, null, 2);
  return ["-H 'content-type: application/json'", `-d '${text.replaceAll("'", `'\\''`)}'`];
}

function clientCode(operation: Operation, example: AnyExample): string {
  const call = filled(operation, example);
  const lines = ['import { connect } from "holdfast/client";', "", `const memory = connect("${SERVER}");`];
  if (/\bsession\./.test(call)) lines.push(`const session = memory.session(${literal(scopeOf(operation, example))});`);
  return [...lines, call].join("\n");
}

/** The call with its values. */
function filled(operation: Operation, example: AnyExample): string {
  const { call = "", params = {}, body } = example;
  const fields = typeof body === "object" && body !== null ? body : {};
  const named = new Set([...call.matchAll(/\$(\w+)/g)].map(([, name]) => name));
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !named.has(name)));
  const lines = typeof body === "string" ? body.trimEnd().split("\n") : [];
  const scope = scopeOf(operation, example);
  const values: { readonly [name: string]: unknown } = { ...params, ...fields, body, rest, lines, scope };
  return call
    .replace(Object.keys(rest).length === 0 ? /, \$rest\b/ : /(?!)/, "")
    .replaceAll(/\$(\w+)/g, (_, name: string) => literal(values[name]));
}

/** A value as it is written in TypeScript, on one line if it is short. */
export function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const parts = (deep: string): readonly string[] =>
    Array.isArray(value)
      ? value.map((one) => literal(one, deep))
      : Object.entries(value).map(
          ([name, one]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${literal(one, deep)}`,
        );
  const [open, close, space] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  const short = parts("").join(", ");
  if (short === "") return open + close;
  if (short.length <= WIDTH_MAX && !short.includes("\n")) return open + space + short + space + close;
  return `${open}\n${parts(inner)
    .map((part) => `${inner}${part},\n`)
    .join("")}${indent}${close}`;
}
