/**
 * Owner: identifies this process so that others on the same machine can tell whether it is still alive.
 *
 * The name consists of host, PID namespace, boot id, PID and start time. Systems other than Linux lack some of these,
 * so a reused PID may look alive. Its lease then expires by silence, like that of a process on another host.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { newId } from "../../ids.js";
import type { Owner } from "../../stores/indexing.js";

export function newOwner(now: number): Owner {
  return { id: newId(now), process: nameOf(process.pid, startOf(process.pid)) };
}

/** True if that process certainly no longer exists; false if it exists or if this cannot be determined from here. */
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

/** The scope in which PIDs are comparable. */
function thisPlace(): string {
  place ??= [
    hostname(),
    readOr("", () => readlinkSync("/proc/self/ns/pid")),
    readOr("", () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  ].join(" ");
  return place;
}

/** The start time of a process, in ticks since boot. */
const startOf = (pid: number): string => statOf(pid)[19] ?? "";

/** Whether the process has exited but its parent has not reaped it. */
const isZombie = (pid: number): boolean => statOf(pid)[0] === "Z";

/** The fields after the process name. The name itself may contain spaces and parentheses. */
function statOf(pid: number): readonly string[] {
  const line = readOr("", () => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** Other systems have no /proc, and a process that has just exited has no entry in it. */
function readOr(fallback: string, read: () => string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}
