/** The process of a trial: takes its assignment, measures, reports, exits. */
import { once } from "node:events";
import { measureLag } from "./lag.js";
import { measurePipeline } from "./pipeline.js";
import type { Assignment } from "./trial.js";

const rssAtStart = process.memoryUsage.rss();
const [assignment] = (await once(process, "message")) as [Assignment];
const { trial, path, lines } = assignment;
const report =
  trial.kind === "pipeline"
    ? await measurePipeline(trial, path, lines, rssAtStart)
    : await measureLag(trial, path, lines);
process.send?.(report, () => process.disconnect());
