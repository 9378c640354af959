/** The threads that this process has started, seen from outside: how many, and what they were told. */
import type { Worker } from "node:worker_threads";

export const threads: Worker[] = [];
let told = 0;

process.on("worker", (thread) => {
  threads.push(thread);
  const post = thread.postMessage.bind(thread);
  thread.postMessage = (message, options) => {
    told++;
    post(message, options as []);
  };
});

/** How many messages threads were sent so far. */
export const messagesTold = (): number => told;
