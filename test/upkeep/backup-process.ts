/** A process that ends while it makes a backup. Arguments: the file, where the backup goes, and how: kill or exit. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { backupFile } from "holdfast";

const [path = "", to = "", how] = process.argv.slice(2);
const folder = dirname(to);
const isWritten = (name: string): boolean => statSync(join(folder, name)).size > 0;

await backupFile({
  path,
  to,
  onProgress() {
    while (!readdirSync(folder).some(isWritten)); // the copy is written by a thread
    if (how === "exit") process.exit(7);
    process.kill(process.pid, "SIGKILL");
  },
});
