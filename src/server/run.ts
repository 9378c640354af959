/**
 * Run: a server in the foreground, until it is told to stop. The first signal ends it when all it has accepted is answered;
 * a second one ends it at once. Neither loses what was acknowledged: that is in the file.
 */
import type { CloseReport } from "../reports.js";
import type { RunningServer } from "./serve.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** As shells tell of a process that a signal has ended. */
const EXIT_OF = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves when the server has stopped. */
export async function untilStopped(server: RunningServer, onSignal: () => void): Promise<CloseReport> {
  const { promise, resolve, reject } = withResolvers<CloseReport>();
  let isStopping = false;
  const stop = (signal: (typeof SIGNALS)[number]): void => {
    if (isStopping) endBy(signal);
    isStopping = true;
    onSignal();
    server.stop().then(resolve, reject);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await promise;
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/**
 * Ends the process as the signal does where nobody handles it. `process.exit` would tear down the threads first, and a
 * thread that is inside SQLite then aborts the process.
 */
function endBy(signal: (typeof SIGNALS)[number]): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(EXIT_OF[signal]);
}

/** What to type first: it works as it stands. */
export function firstCall(url: string): string {
  return [
    `curl -s '${url}/api/v1/messages?user=ada&session=first' \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '{"messages":[{"role":"user","content":"I moved to Lisbon in May."}]}'`,
  ].join("\n");
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
