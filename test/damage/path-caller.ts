/** A process that passes one path to everything that takes a path, and prints the results. */
import { resolve } from "node:path";
import {
  backupFile,
  fileContents,
  HoldfastError,
  inspectFile,
  MemoryManager,
  openMemory,
  repairFile,
  restoreFile,
} from "holdfast";
import { SqliteBufferStore } from "holdfast/buffer-store";

/** The path is where the memory of the agent ada of team crew is, so that it can be mistaken for one. */
const [path = "", sound = ""] = process.argv.slice(2);

export type Said = { readonly code: string; readonly message: string; readonly hint: string } | "done" | string;

const CALLS: { readonly [name: string]: () => unknown } = {
  openMemory: async () => (await openMemory({ path })).close(),
  SqliteBufferStore: () => new SqliteBufferStore(path).close(),
  "backup of it": () => backupFile({ path, to: `${sound}.backup` }),
  "backup over it": () => backupFile({ path: sound, to: path, overwrite: true }),
  "restore from it": () => restoreFile({ from: path, to: `${sound}.restored` }),
  "restore over it": () => restoreFile({ from: sound, to: path, overwrite: true }),
  contents: () => fileContents({ path }),
  "memory of a team": () => new MemoryManager(resolve(path, "../../..")).load("crew", "ada"),
  config: () => openMemory({ config: path, path: ":memory:" }),
};

async function outcomeOf(call: () => unknown): Promise<Said> {
  try {
    await call();
    return "done";
  } catch (error) {
    if (!(error instanceof HoldfastError)) return `raw error: ${String(error)}`;
    const { code, message, hint } = error;
    return { code, message, hint };
  }
}

const said: { [name: string]: Said } = {};
for (const [name, call] of Object.entries(CALLS)) {
  process.stderr.write(`${name}\n`); // if this is the last line, that call hangs
  said[name] = await outcomeOf(call);
}
const { before } = await repairFile({ path, model: "none" });
for (const [name, { checks }] of Object.entries({
  repair: before,
  doctor: await inspectFile({ path, model: "none" }),
})) {
  const fault = checks.find(({ state }) => state === "error");
  said[name] = fault ? { code: fault.name, message: fault.what, hint: fault.todo ?? "" } : "done";
}
process.stdout.write(JSON.stringify(said));
