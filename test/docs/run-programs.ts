/**
 * Runs compiled programs of the pages, one after the other, each in an empty folder of its own: `run-programs.js
 * <folder with .mjs files> <folder to work in>`. One process for all of them, because loading the package and its model
 * takes longer than most programs. Prints the name of each program that ended well; the first failure ends the process.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { BufferService } from "holdfast";
import { serve } from "holdfast/server";

const [, , programs = "", work = ""] = process.argv;

declare global {
  var shows: (wanted: string, ...values: readonly unknown[]) => void;
  var serverUrl: string;
}
globalThis.shows = (wanted, ...values) => {
  const printed = format(...values);
  if (printed !== wanted) throw new Error(`the page says it prints\n  ${wanted}\nbut it prints\n  ${printed}`);
};

// A query waits for what is being embedded, so that no answer depends on how busy the machine is.
const { ask } = BufferService.prototype;
BufferService.prototype.ask = async function (this: BufferService, ...args: Parameters<typeof ask>) {
  await this.flush();
  return ask.apply(this, args);
};

console.log = () => {};
const server = await serve({ path: join(work, "server.db"), server: { port: 0 } });
globalThis.serverUrl = server.url;
for (const name of readdirSync(programs).filter((file) => file.endsWith(".mjs"))) {
  const folder = join(work, name);
  mkdirSync(folder);
  process.chdir(folder);
  try {
    await import(pathToFileURL(join(programs, name)).href);
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).stack}\n`);
    process.exit(1);
  }
  process.stdout.write(`${name}\n`);
}
await server.stop();
process.exit(0);
