import { buffer } from "./buffer.js";
import { carried } from "./carried.js";
import { command } from "./command.js";
import { copies } from "./copies.js";
import { MEMORY_WORKLOADS } from "./memory.js";
import { team } from "./team.js";
import type { Workload } from "./workload.js";

export const WORKLOADS: readonly Workload[] = [...MEMORY_WORKLOADS, carried, copies, command, buffer, team];

export function workloadOf(name: string): Workload {
  const workload = WORKLOADS.find((one) => one.name === name);
  if (!workload)
    throw new Error(`there is no workload "${name}"; there are: ${WORKLOADS.map((one) => one.name).join(", ")}`);
  return workload;
}
