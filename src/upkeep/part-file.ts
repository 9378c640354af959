/**
 * Names for files being written. They are beside the target and identify their process, so that those left behind by a dead
 * process can be removed.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isGone, newOwner } from "../buffers/hybrid/owner.js";

const ENDING = ".part";
/** A part of a part is named after both. */
const NAME = /(?:^|\.)([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f]{8}\.part(-merged)?(-journal)?$/;

/** A unique temporary name for the target. */
export function partFileOf(target: string): string {
  const { place, pid, start } = thisProcess();
  const name = [hashOf(place), pid, start, randomBytes(4).toString("hex")].join("-");
  return `${target}.${name}${ENDING}`;
}

/** Removes the target's temporary files whose process has ended. Those of other machines are kept. */
export function removeStaleParts(target: string): void {
  const { place } = thisProcess();
  const [folder, prefix] = [dirname(target), `${basename(target)}.`];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue;
    const [, where, pid, start] = NAME.exec(name.slice(prefix.length)) ?? [];
    if (where === hashOf(place) && isGone(`${place} ${pid} ${start}`)) rmSync(join(folder, name), { force: true });
  }
}

const hashOf = (place: string): string => createHash("sha256").update(place).digest("hex").slice(0, 8);

/** The parts of this process's name: host, process id and start time. */
function thisProcess(): { readonly place: string; readonly pid: string; readonly start: string } {
  const [, place = "", pid = "", start = ""] = /^(.*) (\d+) (\d*)$/.exec(newOwner(0).process) ?? [];
  return { place, pid, start };
}
