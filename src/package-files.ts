/**
 * The files that this package ships beside its code: the model, the dashboard, and the parts in dist/parts (the SQLite
 * driver of Node 20, the WebAssembly runtime, the vocabularies of token counts).
 *
 * They are found from the code: in the package, it is below the folder that contains them. An application that was bundled
 * has the package in a folder `holdfast` next to the bundle, or installed where the bundle or the working folder finds it.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Not imported: webpack resolves the calls of an imported `createRequire` itself, when it builds.
const { createRequire } = process.getBuiltinModule("node:module");

/**
 * Where this code is, or the program that contains it: a bundle of CommonJS has no `import.meta.url`, and webpack writes into its
 * bundles where the code was on the machine that built them.
 */
export const CODE_URL: string =
  codeUrl(import.meta.url) ?? pathToFileURL(process.argv[1] ?? `${process.cwd()}/program`).href;

const NAME = "holdfast";

let found: string | undefined;

/** The path of a file or folder of the package. If there is no package, the path where it is expected. */
export function packageFile(path: string): string {
  found ??= packageFolder();
  return join(found, path);
}

/** Loads a part; where the part is missing or not for this platform, the package of this name, if it is installed. */
export function requirePart<T>(file: string, name: string): T {
  const require = createRequire(CODE_URL);
  const part = packageFile(`dist/parts/${file}`);
  if (!existsSync(part)) return require(resolvedFrom(packageFile("package.json"), name) ?? name) as T;
  try {
    return require(part) as T;
  } catch (error) {
    const installed = resolvedFrom(CODE_URL, name);
    if (installed === undefined) throw error;
    return require(installed) as T;
  }
}

function codeUrl(url: string | undefined): string | undefined {
  return url?.startsWith("file:") && existsSync(fileURLToPath(url)) ? url : undefined;
}

function packageFolder(): string {
  const start = dirname(fileURLToPath(CODE_URL));
  for (let folder = start; ; folder = dirname(folder)) {
    if (isPackage(folder)) return folder;
    if (dirname(folder) === folder) break;
  }
  const beside = join(start, NAME);
  if (isPackage(beside)) return beside;
  const installed = [CODE_URL, pathToFileURL(`${process.cwd()}/program`).href]
    .map((from) => resolvedFrom(from, `${NAME}/package.json`))
    .find((path) => path !== undefined);
  return installed === undefined ? beside : dirname(installed);
}

function isPackage(folder: string): boolean {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly name?: string }).name === NAME;
}

function resolvedFrom(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined; // not installed there; the caller tries elsewhere
  }
}
