/** The process of a trial: takes its assignment, measures, reports, exits. */
import { once } from "node:events";
import { measureFirst } from "./query-first.js";
import { measureMixed } from "./query-mixed.js";
import { measureSides } from "./query-sides.js";
import { type QueryAssignment, type QueryTrial, sayer } from "./query-trial.js";

const [{ trial, file, begun }] = (await once(process, "message")) as [QueryAssignment];
process.send?.(await measure(trial), () => process.disconnect());

function measure(trial: QueryTrial): Promise<unknown> {
  if (trial.kind === "first") return measureFirst(file, trial.seed);
  if (trial.kind === "mixed") return measureMixed(file);
  const { rounds, base } = trial;
  return measureSides(file, rounds, (name) => `${base}-${name}.db`, sayer(begun));
}
