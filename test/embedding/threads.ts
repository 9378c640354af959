/** The threads that this process has started, observed from outside: their number, and the messages sent to them. */
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

/** The number of messages sent to threads so far. */
export const messagesTold = (): number => told;
