/**
 * A process that runs one part of a workload. Arguments: "prepare" or "work", the workload, the folder, the seed, the
 * step; or "check", the workload, the folder of the run, the folder for images, the checker's number and the number of
 * checkers, and "ignored" if syncs are to be ignored.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../crash/finding.js";
import { report } from "../support/child.js";
import { Random } from "../support/random.js";
import { type Checked, cutsFile } from "./checked.js";
import { type Cut, fates, touched } from "./cut.js";
import { Disk, writeFiles } from "./disk.js";
import { readRecording } from "./recording.js";
import { unsound } from "./workload.js";
import { workloadOf } from "./workloads.js";

const KEPT_MAX = 5;

const [, , role = "", name = "", folder = "", ...rest] = process.argv;
const workload = workloadOf(name);
if (role === "prepare") await workload.prepare?.(folder, new Random(Number(rest[0])));
if (role === "work") await workload.work(folder, new Random(Number(rest[0])), Number(rest[1]));
if (role === "check") await checkImages(rest);
process.disconnect?.();

async function checkImages([place = "", index = "0", checkers = "1", syncs]: readonly string[]): Promise<void> {
  const ignoresSyncs = syncs === "ignored";
  const cuts = JSON.parse(readFileSync(cutsFile(folder, ignoresSyncs), "utf8")) as readonly Cut[];
  const mine = [...cuts.entries()].filter(([image]) => image % Number(checkers) === Number(index));
  for await (const checked of images(mine, place, ignoresSyncs)) report(checked);
}

/** Checks images in the order of their points. Some with findings are kept, as they were before they were opened. */
async function* images(
  cuts: readonly (readonly [number, Cut])[],
  place: string,
  ignoresSyncs: boolean,
): AsyncGenerator<Checked> {
  const disk = new Disk(join(folder, "base"), ignoresSyncs);
  const records = readRecording(join(folder, "log"));
  const reports = readFileSync(join(folder, "reports"), "utf8").split("\n").filter(Boolean).map(parse);
  let done = 0;
  let kept = 0;
  for (const [image, cut] of cuts) {
    for (; done < cut.point; done++) {
      const record = records[done];
      if (record?.kind === "report") reports.push(...record.lines.map(parse));
      else if (record) disk.apply(record);
    }
    const { pending } = disk;
    const files = disk.files(fates(cut, pending));
    const findings = await checkImage(files, join(place, String(image)), reports);
    if (findings.length > 0 && !ignoresSyncs && kept++ < KEPT_MAX) {
      const failed = join(folder, "failed", String(image));
      mkdirSync(failed, { recursive: true });
      writeFiles(files, failed);
    }
    yield { image, touched: [...touched(pending)], findings };
  }
}

function parse(line: string): unknown {
  return JSON.parse(line);
}

/** Each image has a folder of its own: the driver keeps files open until its statements are collected as garbage. */
async function checkImage(
  files: ReadonlyMap<string, Buffer | undefined>,
  image: string,
  reports: readonly unknown[],
): Promise<readonly Finding[]> {
  mkdirSync(image, { recursive: true });
  writeFiles(files, image);
  try {
    return await workload.check(image, reports);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [unsound(`the check failed: ${code ?? ""} ${message}`)];
  } finally {
    rmSync(image, { recursive: true, force: true });
  }
}
