/**
 * Place: the file or the server that a command works on.
 *
 * Precedence: --path or --url, then HOLDFAST_URL, then HOLDFAST_STORE_PATH, then the configuration file, then the user's
 * default file (default-path.ts).
 */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../errors.js";
import { makeFolder } from "../folder.js";
import type { Memory } from "../memory.js";
import type { Options } from "../options.js";
import { absolutePath } from "../stores/sqlite/file/file.js";
import { defaultPath } from "./default-path.js";
import type { Environment } from "./io.js";

/** Discarded when the command ends: for trying things out. */
export const IN_MEMORY = ":memory:";

export interface PlaceFlags {
  readonly path?: string;
  readonly config?: string;
  readonly url?: string;
  readonly key?: string;
}

/** How a command opens the memory. */
export interface Need {
  /** Loads the model. Without it, added items wait in the file to be embedded. */
  readonly meaning?: boolean;
  /** Creates the file if it does not exist. Otherwise a missing file is an error. */
  readonly create?: boolean;
  /** For a long-lived, mostly idle process: the first query loads the model, not the first add. */
  readonly resting?: boolean;
}

export interface FilePlace {
  readonly kind: "file";
  readonly path: string;
  readonly config?: string;
  /** Whether it is the default file of this user account. */
  readonly isDefault: boolean;
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
    throw new HoldfastError("invalid_input", "--path and --url exclude each other", { hint: "pass one of them" });
  }
  const url = urlOf(flags, env);
  if (url === undefined) {
    if (flags.key === undefined) return filePlaceOf(flags, env);
    throw new HoldfastError("invalid_input", "--key needs a server", {
      hint: "add --url URL",
    });
  }
  const key = flags.key ?? env["HOLDFAST_KEY"];
  return { kind: "server", url, ...(key !== undefined && { key }) };
}

/** --path wins over the environment's server. */
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
  const usual = defaultPath(env);
  const resolved = loadConfig({ file: config, env, code, fallback: { path: usual } });
  if (resolved.path === usual && usual.includes("\uFFFD")) throw noDataFolder();
  const isDefault = resolved.path === usual;
  return { kind: "file", path: resolved.path, ...(config !== undefined && { config }), isDefault };
}

/** The configured embedding model. */
export async function embeddingModelAt({ path, config }: FilePlace, env: Environment): Promise<string> {
  const { loadConfig } = await import("../config.js");
  return loadConfig({ file: config, env, code: { path } }).buffer.hybridBuffer.embeddingModel;
}

export async function openFile(place: FilePlace, { meaning, create, resting }: Need): Promise<Memory> {
  const { path, config } = place;
  if (create) await prepareFolderOf(place);
  else requireFile(path);
  const { openWithFallback } = await import("../memory.js");
  const options = {
    path,
    ...(config !== undefined && { config }),
    buffer: meaning ? { closeMs: resting ? 0 : CLOSE_MS } : { hybridBuffer: { embeddingModel: "none" } },
  };
  return openWithFallback(options, resting ? RESTING : {}, resting ? "often" : meaning ? "once" : "nothing");
}

/**
 * How long a command continues to embed waiting items after it has answered: enough for some 50 kB of text with the native
 * runtime, 14 kB without. If it embedded nothing, texts that are too long for a query to embed would wait forever, and every
 * query would be partial.
 */
const CLOSE_MS = 2_000;

/** Added items are not embedded until a query comes, or until their number would delay a query. */
const RESTING: Options = {
  buffer: { roundBuffer: { eager: false, maxSize: 20, maxTokens: 1_000_000, idleMs: 24 * 3_600_000 } },
};

/** Creates the folder of the default file. A folder that the user named has to exist, because the name may be mistyped. */
export async function prepareFolderOf({ path, isDefault }: FilePlace): Promise<void> {
  if (path === IN_MEMORY) return;
  if (!isDefault) return requireFolder(path);
  const folder = dirname(absolutePath(path));
  try {
    await makeFolder(folder, 0o700);
  } catch (cause) {
    throw new HoldfastError("forbidden", `cannot create the folder ${folder}: ${(cause as Error).message}`, {
      hint: "choose another file: --path FILE, or HOLDFAST_STORE_PATH",
      cause,
    });
  }
}

/** Requires the folder of a new file to exist. */
export function requireFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new HoldfastError("not_found", `the folder ${folder} does not exist`, {
    hint: `create it first: mkdir -p ${folder}`,
  });
}

export function requireFile(path: string): void {
  if (path === IN_MEMORY) return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    throw new HoldfastError("invalid_input", `${path} is a folder`, { hint: "pass a file: --path FILE" });
  }
  if (found) return;
  throw new HoldfastError("not_found", `there is no memory at ${path}`, {
    hint: 'holdfast add "…" creates it; --path selects another file',
  });
}

/** Two folders would become one. */
const noDataFolder = (): HoldfastError =>
  new HoldfastError("invalid_input", "the name of the data folder is not text in UTF-8", {
    hint: "name the file with --path or HOLDFAST_STORE_PATH",
  });
