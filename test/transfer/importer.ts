/**
 * The process that is killed while it imports. It reports each finished batch and continues at once, so that the kill
 * occurs during a later one. Arguments: the path of the memory, the path of the export.
 */
import { createReadStream } from "node:fs";
import { importLines, openMemory, splitLines } from "holdfast";
import { report } from "../support/child.js";

const [, , path, file] = process.argv as unknown as [string, string, string, string];

const memory = await openMemory({ path });
await importLines(memory, splitLines(createReadStream(file)), { onProgress: (progress) => report(progress) });
await memory.close();
process.disconnect?.();
