/** Inspection, repair, and inspection again, in an upkeep thread. */
import { chmodSync, existsSync } from "node:fs";
import type { CheckName, Diagnosis } from "./diagnosis.js";
import { type InspectJob, inspect } from "./inspection.js";
import { mend } from "./mend.js";
import type { Steps } from "./progress.js";

/** What a repair has done. */
export interface RepairReport {
  /** The repairs made, as sentences. */
  readonly done: readonly string[];
  /** The inspection before the repair. */
  readonly before: Diagnosis;
  /** The inspection after it. */
  readonly after: Diagnosis;
}

/** If one of these checks fails, nothing is repaired: writing into such a file may lose data or make it worse. */
const FATAL: readonly CheckName[] = ["file", "place", "format", "schema", "integrity"];

export async function treat(job: InspectJob, steps: Steps): Promise<RepairReport> {
  const before = await inspect(job, steps);
  const faults = before.checks.filter(({ state }) => state !== "ok");
  const isHopeless = faults.some(({ name, repairable }) => FATAL.includes(name) && !repairable);
  const repairs = faults.flatMap(({ name, repairable }) => (repairable ? [name] : []));
  if (isHopeless || repairs.length === 0) return { done: [], before, after: before };
  const { path, now, deep } = job;
  const isOpenToOthers = repairs.includes("mode");
  if (isOpenToOthers) makePrivate(path);
  const mended = await mend({ path, now, deep, repairs }, steps);
  const done = isOpenToOthers ? ["made the file private", ...mended] : mended;
  return { done, before, after: await inspect(job, steps) };
}

function makePrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}
