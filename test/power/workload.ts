/** A workload: a process that changes files and reports what was acknowledged, and a check of the resulting files. */
import type { Finding } from "../crash/finding.js";
import type { Random } from "../support/random.js";

export interface Workload {
  readonly name: string;
  /** How many power cuts are tried. */
  readonly images: number;
  /** Another workload: an image of one of its power cuts is what this one finds. */
  readonly after?: string;
  /** Makes what is there, and durable, before anything is recorded. Its reports come before those of `work`. */
  prepare?(folder: string, random: Random): Promise<void>;
  /** How many processes do the work, one after the other; one if left out. */
  readonly steps?: number;
  /** Runs in a recorded process. Reports every call before it is made and as soon as it has returned. */
  work(folder: string, random: Random, step: number): Promise<void>;
  /** What is wrong with what a power cut has left, given all reports before it. It may change the folder. */
  check(folder: string, reports: readonly unknown[]): Promise<Finding[]>;
}

export const unsound = (what: string): Finding => ({ problem: "unsound", what });
