/** One run of a workload: recorded, cut at many points, checked by several processes. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding, Problem } from "../crash/finding.js";
import { Child, REPORTS } from "../support/child.js";
import { Random } from "../support/random.js";
import { type Checked, cutsFile } from "./checked.js";
import { type Cut, fates, planCuts } from "./cut.js";
import { Disk, differencesFrom, writeFiles } from "./disk.js";
import { type LogRecord, readRecording } from "./recording.js";
import type { Workload } from "./workload.js";

const PROCESS = new URL("./process.js", import.meta.url);

export interface Outcome {
  readonly points: number;
  readonly images: number;
  /** Images with something lost, with something that should not be there, and damaged in any other way. */
  readonly lost: number;
  readonly resurrected: number;
  readonly damaged: number;
  /** Images in which the file, its log, or names were not durable when the power was cut. */
  readonly uncertain: { readonly [what in "file" | "log" | "names"]: number };
}

export class Run {
  readonly workload: Workload;
  readonly #folder: string;
  readonly #seed: number;
  #records: readonly LogRecord[] = [];

  /** Everything about it is in `folder`. */
  constructor(workload: Workload, folder: string, seed: number) {
    this.workload = workload;
    this.#folder = folder;
    this.#seed = seed;
  }

  /** How many calls were acknowledged. */
  get acknowledged(): number {
    return this.#records.reduce((sum, record) => sum + (record.kind === "report" ? answers(record.lines) : 0), 0);
  }

  /** Runs the workload under the shim, from what `earlier` has left if it comes after another one. */
  async record(shim: string, earlier?: Run, execArgv: readonly string[] = []): Promise<void> {
    const files = join(this.#folder, "files");
    const base = join(this.#folder, "base");
    const log = join(this.#folder, "log");
    mkdirSync(files, { recursive: true, mode: 0o700 });
    const reports = earlier ? earlier.#leave(files) : [];
    if (this.workload.prepare) {
      await this.#child("prepare", files, 0, (report) => reports.push(JSON.stringify(report)));
    }
    writeFileSync(join(this.#folder, "reports"), reports.map((line) => `${line}\n`).join(""));
    cpSync(files, base, { recursive: true, filter: (path) => !path.endsWith("-shm") });
    const env = {
      LD_PRELOAD: shim,
      SHIM_FOLDER: files,
      SHIM_LOG: log,
      SHIM_REPORTS: String(REPORTS),
      UV_USE_IO_URING: "0",
    };
    for (let step = 0; step < (this.workload.steps ?? 1); step++) {
      await this.#child("work", files, step, () => undefined, { env, execArgv });
    }
    this.#records = readRecording(log);
    this.#assertComplete(base, files);
    rmSync(files, { recursive: true });
  }

  /** What the shim has seen must add up to what is there: else something was written past it. */
  #assertComplete(base: string, files: string): void {
    const disk = new Disk(base);
    for (const record of this.#records) if (record.kind !== "report") disk.apply(record);
    const different = differencesFrom(
      disk.files(() => "kept"),
      files,
    );
    if (different.length > 0) throw new Error(`the recording is not complete: ${different.join(", ")} differ`);
  }

  async #child(
    role: "prepare" | "work",
    files: string,
    step: number,
    onReport: (report: unknown) => void,
    options: ConstructorParameters<typeof Child>[3] = {},
  ): Promise<void> {
    const args = [role, this.workload.name, files, String(this.#seed), String(step)];
    const child = new Child(PROCESS, args, onReport, options);
    const { code, signal, stderr } = await child.ended;
    // A step may end by killing itself.
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`${this.workload.name}: ${role} failed: ${stderr}`);
  }

  /** Writes what a power cut late in this run leaves into a folder; returns the reports before it. */
  #leave(folder: string): string[] {
    const random = new Random(this.#seed);
    const syncing = [...this.#records.entries()].filter(([, { kind }]) => kind === "sync");
    const [point] = syncing[Math.floor(syncing.length * (0.6 + 0.3 * random.fraction()))] ?? [this.#records.length];
    const disk = new Disk(join(this.#folder, "base"));
    const reports: string[] = [];
    for (const record of this.#records.slice(0, point)) {
      if (record.kind === "report") reports.push(...record.lines);
      else disk.apply(record);
    }
    const cut: Cut = { point, choice: "subset", seed: this.#seed };
    writeFiles(disk.files(fates(cut, disk.pending)), folder);
    return reports;
  }

  /** Cuts the power so many times and checks what is left. `place` is where images are written. */
  async check(
    images: number,
    place: string,
    checkers: number,
    onImage: (done: number, of: number) => void,
    ignoresSyncs = false,
  ): Promise<{ readonly outcome: Outcome; readonly failures: readonly Failure[] }> {
    const cuts = this.#plan(images, ignoresSyncs);
    writeFileSync(cutsFile(this.#folder, ignoresSyncs), JSON.stringify(cuts));
    const checked: Checked[] = [];
    await Promise.all(
      Array.from({ length: checkers }, async (_, index) => {
        const args = ["check", this.workload.name, this.#folder, place, String(index), String(checkers)];
        if (ignoresSyncs) args.push("ignored");
        const child = new Child<string, Checked>(PROCESS, args, (one) => {
          checked.push(one);
          onImage(checked.length, cuts.length);
        });
        const { code, stderr } = await child.ended;
        if (code !== 0) throw new Error(`${this.workload.name}: a checker failed: ${stderr}`);
      }),
    );
    if (checked.length !== cuts.length) throw new Error(`${this.workload.name}: some images were not checked`);
    const failed = checked.filter(({ findings }) => findings.length > 0);
    const having = (...problems: readonly Problem[]): number =>
      failed.filter(({ findings }) => findings.some(({ problem }) => problems.includes(problem))).length;
    const touching = (pattern: RegExp): number =>
      checked.filter(({ touched }) => touched.some((path) => pattern.test(path))).length;
    return {
      outcome: {
        points: new Set(cuts.map(({ point }) => point)).size,
        images: cuts.length,
        lost: having("lost"),
        resurrected: having("ghost"),
        damaged: having("duplicated", "out of order", "torn", "unfound", "refused", "unsound"),
        uncertain: {
          file: touching(/\.(db|json|tmp|part)$/),
          log: touching(/-(wal|journal)$/),
          names: touching(/^names$/),
        },
      },
      failures: failed.map(({ image, findings }) => ({
        findings,
        cut: cuts[image] as Cut,
        kept: join(this.#folder, "failed", String(image)),
        // As the only one of as many checkers as there are images.
        again: `node build/test/power/process.js check "${this.workload.name}" ${this.#folder} ${tmpdir()}/image ${image} ${cuts.length} 3>&1`,
      })),
    };
  }

  #plan(images: number, ignoresSyncs: boolean): Cut[] {
    const disk = new Disk(join(this.#folder, "base"), ignoresSyncs);
    let done = 0;
    const countsAt = (point: number): { readonly changes: number; readonly names: number } => {
      for (; done < point; done++) {
        const record = this.#records[done];
        if (record && record.kind !== "report") disk.apply(record);
      }
      const { pending } = disk;
      return { changes: pending.length, names: pending.filter(({ kind }) => kind === "name").length };
    };
    const uncertain = (points: readonly number[]) => new Map(points.map((point) => [point, countsAt(point)]));
    return planCuts(this.#records, images, new Random(this.#seed), uncertain);
  }
}

/** A power cut that something was wrong after. */
export interface Failure {
  readonly cut: Cut;
  readonly findings: readonly Finding[];
  /** The folder with the image, as it was before it was opened. */
  readonly kept: string;
  /** The command that checks it again. */
  readonly again: string;
}

const answers = (lines: readonly string[]): number => lines.filter((line) => line.includes('"say":"done"')).length;
