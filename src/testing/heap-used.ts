import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The bytes of JavaScript objects that are still reachable. */
export function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  return process.memoryUsage().heapUsed;
}
