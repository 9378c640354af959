/** Parts of the compiled server that are not public. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Operation } from "../../build/lib/schemas/operation.js";
import type { ALL_OPERATIONS as All } from "../../build/lib/server/operations.js";
import { root } from "../support/root.js";

export type { Operation } from "../../build/lib/schemas/operation.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);

export type OperationName = keyof typeof All;
const all = (await part("server/operations.js")) as { readonly ALL_OPERATIONS: typeof All };

export interface Listed {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly method: string;
  /** With its parameters in braces, under /api/v1. */
  readonly path: string;
}

/** Every route there is. */
export const OPERATIONS: readonly Listed[] = Object.entries(all.ALL_OPERATIONS).map(([name, operation]) => {
  const [method = "", path = ""] = operation.route.split(" ");
  return { name: name as OperationName, operation: operation as Operation, method, path };
});
