/**
 * Who embeds: this process, in a form by which others on the same machine can tell whether it still lives.
 *
 * A process is named by host, process-id namespace, boot, id and start time. Without the last ones (other systems than
 * Linux) a reused process id may look alive; then its lease ends by silence, as that of a process on another host does.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { newId } from "../../ids.js";
import type { Owner } from "../../stores/indexing.js";

export function newOwner(now: number): Owner {
  return { id: newId(now), process: nameOf(process.pid, startOf(process.pid)) };
}

/** True when that process surely no longer exists; false when it does, or when it cannot be known from here. */
export function isGone(name: string): boolean {
  const [place, pid, start] = parse(name);
  if (place !== thisPlace() || pid === undefined) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const running = startOf(pid);
  return isZombie(pid) || (start !== "" && running !== "" && start !== running);
}

const nameOf = (pid: number, start: string): string => `${thisPlace()} ${pid} ${start}`;

function parse(name: string): readonly [place: string, pid: number | undefined, start: string] {
  const match = /^(.*) (\d+) (\d*)$/.exec(name);
  return match ? [String(match[1]), Number(match[2]), String(match[3])] : [name, undefined, ""];
}

let place: string | undefined;

/** Where process ids mean the same. */
function thisPlace(): string {
  place ??= [
    hostname(),
    readOr("", () => readlinkSync("/proc/self/ns/pid")),
    readOr("", () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  ].join(" ");
  return place;
}

/** When a process began, in ticks since boot. */
const startOf = (pid: number): string => statOf(pid)[19] ?? "";

/** Ended, and not yet taken note of by its parent. */
const isZombie = (pid: number): boolean => statOf(pid)[0] === "Z";

/** The fields of a process after its name, which may hold blanks and brackets. */
function statOf(pid: number): readonly string[] {
  const line = readOr("", () => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** There is no /proc on other systems, and no entry for a process that has just ended. */
function readOr(fallback: string, read: () => string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}
