/**
 * Power cuts. A shim below the processes records every write, every change of a size or a name, every sync and every
 * answer, in one order. Then the power is cut at many points of each recording: what was synced is there; of the rest,
 * nothing, all, or any part. The product opens each image, and the test checks that nothing acknowledged is lost,
 * nothing forgotten is back, and the file is sound.
 *
 * The test itself is tested: the same images from a disk that ignores syncs, and from processes with synchronous=OFF,
 * must show losses.
 *
 * Arguments: names of workloads; all by default. HOLDFAST_TEST_SEED replays the choices of another run,
 * HOLDFAST_TEST_IMAGES multiplies the number of images. Linux only; needs a C compiler.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Random, testSeed } from "../support/random.js";
import { root } from "../support/root.js";
import { type Failure, type Outcome, Run } from "./run.js";
import type { Workload } from "./workload.js";
import { WORKLOADS, workloadOf } from "./workloads.js";

/** Images of a disk that ignores syncs, for each workload, and of the run with synchronous=OFF. */
const CONTROL_IMAGES = 24;
const UNSYNCED_IMAGES = 100;
const UNSYNCED = "adds and edits";
const FAILURES_SHOWN = 5;
const TELL_MS = 10_000;
const NO_SYNC = join(root, "test/power/no-sync.cjs");

interface Row extends Outcome {
  readonly name: string;
  readonly acknowledged: number;
}

const COLUMNS: readonly { readonly title: string; readonly of: (row: Row) => number }[] = [
  { title: "acknowledged", of: ({ acknowledged }) => acknowledged },
  { title: "crash points", of: ({ points }) => points },
  { title: "images", of: ({ images }) => images },
  { title: "lost", of: ({ lost }) => lost },
  { title: "resurrected", of: ({ resurrected }) => resurrected },
  { title: "damaged", of: ({ damaged }) => damaged },
  { title: "file unsynced", of: ({ uncertain }) => uncertain.file },
  { title: "log unsynced", of: ({ uncertain }) => uncertain.log },
  { title: "names unsynced", of: ({ uncertain }) => uncertain.names },
];

if (process.platform !== "linux") throw new Error("the power cut test runs on Linux only: its shim is made for it");
const seed = testSeed("power cuts");
const factor = Number(process.env["HOLDFAST_TEST_IMAGES"] ?? 1);
const place = mkdtempSync(join(tmpdir(), "holdfast-power-"));
/** Images need no disk: what a power cut leaves is computed. */
const imagePlace = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-power-"));
const checkers = Math.min(availableParallelism(), 8);
const started = performance.now();
let isFine = false;
try {
  const shim = compile();
  const names = process.argv.slice(2);
  const wanted = names.length === 0 ? WORKLOADS : names.map(workloadOf);
  const rows: Row[] = [];
  const controls: Row[] = [];
  const runs = new Map<string, Run>();
  for (const workload of wanted) {
    const run = await recorded(workload, shim);
    rows.push(await checked(run, workload.name, Math.ceil(workload.images * factor)));
    const control = { isControl: true, ignoresSyncs: true };
    controls.push(await checked(run, `${workload.name}, syncs ignored`, CONTROL_IMAGES, control));
  }
  const unsynced = new Run(workloadOf(UNSYNCED), join(place, "unsynced"), seed);
  await unsynced.record(shim, undefined, ["--require", NO_SYNC]);
  controls.push(await checked(unsynced, `${UNSYNCED}, synchronous=OFF`, UNSYNCED_IMAGES, { isControl: true }));
  console.log(`\n${table(rows)}\n\nMust show losses:\n\n${table(controls)}\n`);
  const harmless = controls.filter(({ lost }) => lost === 0);
  for (const { name } of harmless) console.error(`${name}: no loss was seen, so this test could not fail`);
  const failed = rows.filter(({ lost, resurrected, damaged }) => lost + resurrected + damaged > 0);
  isFine = failed.length + harmless.length === 0;
  const seconds = Math.round((performance.now() - started) / 1000);
  const images = rows.reduce((sum, row) => sum + row.images, 0);
  console.log(`${images} images in ${seconds} s, seed ${seed}: ${isFine ? "nothing lost, nothing back" : "FAILED"}`);

  async function recorded(workload: Workload, shim: string): Promise<Run> {
    const known = runs.get(workload.name);
    if (known) return known;
    const earlier = workload.after === undefined ? undefined : await recorded(workloadOf(workload.after), shim);
    const folder = join(place, workload.name.replaceAll(/\W+/g, "-"));
    const run = new Run(workload, folder, new Random(seed + WORKLOADS.indexOf(workload)).between(0, 2 ** 32 - 1));
    await run.record(shim, earlier);
    runs.set(workload.name, run);
    return run;
  }
} finally {
  rmSync(imagePlace, { recursive: true, force: true });
  if (isFine) rmSync(place, { recursive: true, force: true });
  else console.error(`The recordings are kept in ${place}`);
}
if (!isFine) process.exitCode = 1;

/** The shim, compiled. */
function compile(): string {
  const [source, library] = [join(root, "test/power/shim.c"), join(place, "shim.so")];
  try {
    execFileSync("cc", ["-O2", "-Wall", "-shared", "-fPIC", "-o", library, source, "-lpthread"], { stdio: "pipe" });
  } catch (cause) {
    const { code, stderr } = cause as { code?: string; stderr?: Buffer };
    if (code !== "ENOENT") throw new Error(`the shim does not compile: ${stderr}`, { cause });
    throw new Error("the power cut test needs a C compiler: install one (apt-get install gcc libc6-dev)", { cause });
  }
  return library;
}

/** Of a control it is not told what is wrong: something has to be. */
async function checked(
  run: Run,
  name: string,
  images: number,
  { isControl = false, ignoresSyncs = false } = {},
): Promise<Row> {
  const { outcome, failures } = await run.check(images, imagePlace, checkers, progress(name), ignoresSyncs);
  if (!isControl && failures.length > 0) explain(name, failures);
  return { name, acknowledged: run.acknowledged, ...outcome };
}

function explain(name: string, failures: readonly Failure[]): void {
  for (const { cut, findings, kept, again } of failures.slice(0, FAILURES_SHOWN)) {
    console.error(`${name}: power cut after record ${cut.point}, "${cut.choice}" (seed ${cut.seed}), image in ${kept}`);
    console.error(`  again: ${again}`);
    for (const { problem, what } of findings.slice(0, FAILURES_SHOWN)) console.error(`  ${problem}: ${what}`);
  }
  console.error(`${name}: ${failures.length} images failed`);
}

/** Tells how far it is: in place on a terminal, else now and then. */
function progress(name: string): (done: number, of: number) => void {
  let toldAt = performance.now();
  return (done, of) => {
    const isDone = done === of;
    const line = `${name}: ${done} of ${of} images`;
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${isDone ? "\n" : ""}`);
    else if (isDone || performance.now() - toldAt > TELL_MS) {
      console.log(line);
      toldAt = performance.now();
    }
  };
}

function table(rows: readonly Row[]): string {
  const sum = (pick: (row: Row) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  const cells = (name: string, pick: (number: (row: Row) => number) => number): string[] => [
    name,
    ...COLUMNS.map(({ of }) => pick(of).toLocaleString("en")),
  ];
  const lines = [
    ["workload", ...COLUMNS.map(({ title }) => title)],
    ["---", ...COLUMNS.map(() => "---:")],
    ...rows.map((row) => cells(row.name, (number) => number(row))),
    cells("together", sum),
  ];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}
