#!/usr/bin/env node
/**
 * holdfast: the command's entry point.
 *
 * Ctrl-C or SIGTERM ends the command properly: accepted writes are finished first. A second signal ends the process at once.
 * A closed output pipe (`| head`) ends it quietly.
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
 * Ends the process by the signal's default action. `process.exit` would tear down the threads first, and a thread inside
 * SQLite then aborts the process.
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
    return process.stdin; // lazily, because it would keep the process alive
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: ending.signal,
});
// If asked to end, do not wait for the rest of stdin. Otherwise let the last output drain first.
if (ending.signal.aborted) process.exit(exitCode);
process.exitCode = exitCode;
