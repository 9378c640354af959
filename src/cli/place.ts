/**
 * Place: the file or the server that a command works on.
 *
 * A flag wins over the environment: --path or --url, then HOLDFAST_URL, then HOLDFAST_STORE_PATH, then the configuration
 * file, then the person's own file (default-path.ts).
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Options } from "../options.js";
import { defaultPath } from "./default-path.js";
import type { Environment } from "./io.js";

/** Gone when the command ends: for trying things out. */
export const IN_MEMORY = ":memory:";

export interface PlaceFlags {
  readonly path?: string;
  readonly config?: string;
  readonly url?: string;
  readonly key?: string;
}

/** What a command needs of the memory it opens. */
export interface Need {
  /** The model is loaded only where meaning is needed. Without it what is added waits in the file to be embedded. */
  readonly meaning?: boolean;
  /** A command that writes makes the file; one that reads says that there is none. */
  readonly create?: boolean;
  /** True: stays for long and does little. The model is loaded by the first question, not by what is added. */
  readonly resting?: boolean;
}

export interface FilePlace {
  readonly kind: "file";
  readonly path: string;
  readonly config?: string;
}
export interface ServerPlace {
  readonly kind: "server";
  readonly url: string;
  readonly key?: string;
}
export type Place = FilePlace | ServerPlace;

export const placeText = (place: Place): string => (place.kind === "file" ? place.path : place.url);

export async function placeOf(flags: PlaceFlags, env: Environment): Promise<Place> {
  if (flags.url !== undefined && flags.path !== undefined) {
    throw new HoldfastError("invalid_input", "--path and --url name two places", { hint: "give one of them" });
  }
  const url = urlOf(flags, env);
  if (url === undefined) {
    if (flags.key === undefined) return filePlaceOf(flags, env);
    throw new HoldfastError("invalid_input", "--key is for a server, and none is named", {
      hint: "name it: --url URL",
    });
  }
  const key = flags.key ?? env["HOLDFAST_KEY"];
  return { kind: "server", url, ...(key !== undefined && { key }) };
}

/** A file that is named beside the environment's server is what is meant. */
function urlOf({ url, path }: PlaceFlags, env: Environment): string | undefined {
  return url ?? (path === undefined && env["HOLDFAST_URL"] ? env["HOLDFAST_URL"] : undefined);
}

/** For commands that work on a file only. */
export async function fileOnly(flags: PlaceFlags, env: Environment, command: string): Promise<FilePlace> {
  if (urlOf(flags, env) === undefined) return filePlaceOf(flags, env);
  throw new HoldfastError("invalid_input", `${command} works on a file, not through a server`, {
    hint: "run it on the server's machine with --path FILE; it may run while the server does",
  });
}

export async function filePlaceOf({ path, config }: PlaceFlags, env: Environment): Promise<FilePlace> {
  const { loadConfig } = await import("../config.js");
  const code = path === undefined ? {} : { path };
  const resolved = loadConfig({ file: config, env, code, fallback: { path: defaultPath(env) } });
  return { kind: "file", path: resolved.path, ...(config !== undefined && { config }) };
}

/** The embedding model that is configured. */
export async function embeddingModelAt({ path, config }: FilePlace, env: Environment): Promise<string> {
  const { loadConfig } = await import("../config.js");
  return loadConfig({ file: config, env, code: { path } }).buffer.hybridBuffer.embeddingModel;
}

export async function openFile({ path, config }: FilePlace, { meaning, create, resting }: Need): Promise<Memory> {
  if (create) makeFolder(path);
  else requireFile(path);
  const { openWithFallback } = await import("../memory.js");
  const options = {
    path,
    ...(config !== undefined && { config }),
    // A one-shot command is not to go on embedding after it has answered; `flush` and a server do that.
    buffer: meaning ? { closeMs: 0 } : { hybridBuffer: { embeddingModel: "none" } },
  };
  return openWithFallback(options, resting ? RESTING : {});
}

/** What is added waits for a question, or for so many rounds that a question would have to wait for them. */
const RESTING: Options = {
  buffer: { roundBuffer: { eager: false, maxSize: 20, maxTokens: 1_000_000, idleMs: 24 * 3_600_000 } },
};

/** The folder of a file that is to be made. */
export function makeFolder(path: string): void {
  if (path !== IN_MEMORY) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}

/** The folder in which a file is to be made on somebody's word. */
export function requireFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new HoldfastError("not_found", `there is no folder ${folder}`, { hint: "make it first, or name another" });
}

export function requireFile(path: string): void {
  if (path === IN_MEMORY) return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    throw new HoldfastError("invalid_input", `${path} is a folder`, { hint: "name the file: --path FILE" });
  }
  if (found) return;
  throw new HoldfastError("not_found", `there is no memory at ${path}`, {
    hint: 'holdfast add "…" makes it; --path names another file',
  });
}
