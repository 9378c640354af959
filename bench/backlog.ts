/**
 * `npm run bench:backlog`: a new process opens a file with a long backlog. Measures how long that takes, how much memory it
 * uses, and whether the backlog is worked off in the background, newest messages first.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MESSAGES, makeBacklogFile, SESSIONS } from "./backlog-file.js";
import { type BacklogReport, FIRST, loadHashEmbedder } from "./backlog-trial.js";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";
import { table } from "./table.js";

const MIB = 1024 * 1024;
const OPEN_TARGET_MS = 1_000;
const RSS_TARGET = 150 * MIB;

const count = (value: number): string => Math.round(value).toLocaleString("en");
const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`;
const verdict = (isReached: boolean): string => (isReached ? "PASS" : "MISS");

const place = await Workplace.make();
try {
  const HashEmbedder = await loadHashEmbedder();
  const path = place.newPath("backlog");
  await makeBacklogFile(path, place.product, new HashEmbedder());
  const { cpu, cores, os, node, load } = describeMachine(place);
  console.log(`${cpu}, ${cores} cores · ${os} · Node ${node} · load ${load.toFixed(2)}`);
  console.log(`${count(MESSAGES)} messages, ${count(SESSIONS)} of them waiting in as many sessions`);
  console.log(`a file of ${mebibytes(statSync(path).size)}, vectors of 64 numbers, an embedder that only hashes\n`);
  const report = await measure(path);
  const { openMs, rssBefore, rssOpen, rssPeak, rssAfter, ratePerSecond, firstNewest, loopP99Ms } = report;
  console.log(
    table(
      ["", "measured", "target", ""],
      [
        ["openMemory", `${openMs.toFixed(0)} ms`, "≤ 1,000 ms", verdict(openMs <= OPEN_TARGET_MS)],
        ["RSS before it", mebibytes(rssBefore), "", ""],
        ["RSS more when open", mebibytes(rssOpen - rssBefore), "≤ 150 MiB", verdict(rssOpen - rssBefore <= RSS_TARGET)],
        ["RSS more at most", mebibytes(rssPeak - rssBefore), "≤ 150 MiB", verdict(rssPeak - rssBefore <= RSS_TARGET)],
        ["RSS more afterwards", mebibytes(rssAfter - rssBefore), "", ""],
        ["messages embedded per second", count(ratePerSecond), "", ""],
        [
          `of the first ${count(FIRST)}, among the newest`,
          count(firstNewest),
          count(FIRST),
          verdict(firstNewest === FIRST),
        ],
        ["event loop p99", `${loopP99Ms.toFixed(1)} ms`, "", ""],
      ],
    ),
  );
} finally {
  place.remove();
}

async function measure(path: string): Promise<BacklogReport> {
  const child = fork(fileURLToPath(new URL("./backlog-trial.js", import.meta.url)), [path]);
  const [report] = (await once(child, "message")) as [BacklogReport];
  return report;
}
