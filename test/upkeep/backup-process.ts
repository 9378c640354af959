/** A process that dies while it makes a backup. Arguments: the file, and where the backup goes. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { backupFile } from "holdfast";

const [path = "", to = ""] = process.argv.slice(2);
const folder = dirname(to);
const isWritten = (name: string): boolean => statSync(join(folder, name)).size > 0;

await backupFile({
  path,
  to,
  onProgress() {
    while (!readdirSync(folder).some(isWritten)); // the copy is written by a thread
    process.kill(process.pid, "SIGKILL");
  },
});
