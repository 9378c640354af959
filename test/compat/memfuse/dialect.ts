/** The compiled table of MemFuse's operations, and checks of answers against it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { z } from "zod";
import type { MEMFUSE as Table } from "../../../build/lib/compat/memfuse/operations.js";
import type { Operation } from "../../../build/lib/schemas/operation.js";
import { root } from "../../support/root.js";

export type { Operation } from "../../../build/lib/schemas/operation.js";
export type DialectName = keyof typeof Table;

const { MEMFUSE } = (await import(pathToFileURL(join(root, "build/lib", "compat/memfuse/operations.js")).href)) as {
  readonly MEMFUSE: { readonly [name in DialectName]: Operation };
};

export interface Listed {
  readonly name: DialectName;
  readonly operation: Operation;
  readonly method: string;
  /** With its parameters in braces, under /api/v1. */
  readonly path: string;
}

export const DIALECT: readonly Listed[] = Object.entries(MEMFUSE).map(([name, operation]) => {
  const [method = "", path = ""] = operation.route.split(" ");
  return { name: name as DialectName, operation, method, path };
});

const PATTERNS = DIALECT.map((listed) => ({
  listed,
  pattern: new RegExp(`^/api/v1${listed.path.replaceAll(/\{\w+\}/g, "[^/?]+")}/?(\\?|$)`),
}));

/** The `data` of an operation's answer. */
export type DataOf<Name extends DialectName> = z.output<(typeof Table)[Name]["data"]>;

export interface Envelope<Data = unknown> {
  readonly status: string;
  readonly code: number;
  readonly data: Data;
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string }[] | null;
  readonly error?: { readonly code: string; readonly hint?: string };
}

/** Status, envelope and data are as the operation declares, without undeclared fields. */
export function checkAnswer(method: string, path: string, status: number, answer: Envelope): void {
  const found = PATTERNS.find(({ listed, pattern }) => listed.method === method && pattern.test(path));
  if (!found) throw new Error(`${method} ${path} is no route of MemFuse`);
  expect(answer.code, "the envelope repeats the status").toBe(status);
  if (status >= 400) {
    expect(answer).toMatchObject({ status: "error", data: null, message: expect.stringMatching(/\S/) });
    expect(answer.error).toMatchObject({ code: expect.any(String), hint: expect.stringMatching(/\S/) });
    return;
  }
  const { operation } = found.listed;
  const isRetry = (answer.data as { readonly repeated?: boolean }).repeated === true;
  expect(status, operation.route).toBe(isRetry ? 200 : operation.status);
  expect(answer).toMatchObject({ status: "success", errors: null });
  expect(operation.data.parse(answer.data), operation.route).toEqual(answer.data);
}
