#!/usr/bin/env node
/**
 * holdfast: the command as the shell starts it.
 *
 * Ctrl-C or SIGTERM ends what runs in order: what was accepted is written first. A second one ends the process at once.
 * When nobody reads the output any more (`| head`) it ends quietly.
 */
import type { EndReason } from "./io.js";
import { run } from "./run.js";

const ending = new AbortController();
const end = (reason: EndReason): void => ending.abort(reason);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (ending.signal.aborted) endBy(signal);
    else end(signal);
  });
}

/**
 * Ends the process as the signal does where nobody handles it. `process.exit` would tear down the threads first, and a
 * thread that is inside SQLite then aborts the process.
 */
function endBy(signal: "SIGINT" | "SIGTERM"): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    end("EPIPE");
  });
}

const exitCode = await run(process.argv.slice(2), {
  get stdin() {
    return process.stdin; // looked at only by commands that read it: it would keep the process alive
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: ending.signal,
});
// Whoever was asked to end does not wait for the rest of what is piped in. Else the last of the output is let out first.
if (ending.signal.aborted) process.exit(exitCode);
process.exitCode = exitCode;
