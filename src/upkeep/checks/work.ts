/** Checks for unfinished work: the log, purges, leases, parked and pending items. */
import { isGone } from "../../buffers/hybrid/owner.js";
import { pragma } from "../../stores/sqlite/file/connection.js";
import { lacksLog } from "../../stores/sqlite/file/lost-log.js";
import { WAITS } from "../../stores/sqlite/rows/lanes.js";
import { logBytesOf } from "../contents.js";
import { age, count, error, type Finding, ok, REPAIR, repairable, size, warning } from "../diagnosis.js";
import { number, row } from "../reading.js";
import type { Look } from "./look.js";

/** Twice the size to which the log is truncated when it restarts. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;
/** A purge that takes longer than this has lost its process. */
const PURGE_MS = 60_000;
const PENDING_MS = 3_600_000;
const REASONS_SHOWN = 5;
const REASON_LENGTH = 200;

export function checkLog({ path }: Look): Finding {
  if (lacksLog(path)) {
    const what = `the file was in use, but its log, ${path}-wal, is missing: commits that were only in the log are lost`;
    return repairable(
      error(what, `put the log back beside the file or restore a backup; to continue without it, ${REPAIR}`),
    );
  }
  const bytes = logBytesOf(path);
  if (bytes <= LOG_BYTES_MAX) return ok(bytes === 0 ? "the log is empty" : `the log takes ${size(bytes)}`);
  const what = `the log takes ${size(bytes)}: no process could checkpoint it, or one has been reading for a long time`;
  return repairable(warning(what, REPAIR));
}

export function checkPurge({ database, now }: Look): Finding {
  const { purge, purge_since: since } = row(database, "SELECT purge, purge_since FROM head");
  const free = number(database, "PRAGMA freelist_count") * Number(pragma(database, "page_size"));
  if (Number(purge) === 0) return ok(`no forgotten bytes are left; ${size(free)} in free pages`);
  const waited = now - Number(since);
  if (waited <= PURGE_MS) return ok("a purge is in progress");
  return repairable(warning(`forgotten bytes may still be in the file; the purge started ${age(waited)} ago`, REPAIR));
}

export function checkLeases({ database }: Look): Finding {
  const { dead, ownerless, living } = findLeases(database);
  const lost = leasesOf(dead) + ownerless;
  if (lost > 0) {
    const by = dead.length > 0 ? ` (ended: ${dead.map(({ process }) => process).join(", ")})` : "";
    return repairable(warning(`${count(lost, "lease")} without a living owner${by}`, REPAIR));
  }
  if (living.length === 0) return ok("no process is embedding");
  const by = living.map(({ process, leases }) => `${process} (${leases})`);
  return ok(`${count(leasesOf(living), "lease")}: ${by.join(", ")}`);
}

interface Holding {
  readonly id: string;
  /** Readable name of the process. */
  readonly process: string;
  readonly leases: number;
}

export interface LeasesFound {
  /** Owners whose process has ended. */
  readonly dead: readonly Holding[];
  /** Owners whose process is alive, or cannot be checked from this machine. */
  readonly living: readonly Holding[];
  /** Number of leases without a known owner. */
  readonly ownerless: number;
}

export const leasesOf = (holdings: readonly Holding[]): number => holdings.reduce((sum, { leases }) => sum + leases, 0);

export function findLeases(database: Look["database"]): LeasesFound {
  const owners = database
    .prepare("SELECT id, process, count(*) AS leases FROM owner JOIN lease ON lease.owner = owner.id GROUP BY id")
    .all()
    .map(({ id, process, leases }) => ({
      id: String(id),
      process: readable(String(process)),
      leases: Number(leases),
      isGone: isGone(String(process)),
    }));
  return {
    dead: owners.filter(({ isGone }) => isGone),
    living: owners.filter(({ isGone }) => !isGone),
    ownerless: number(database, "SELECT count(*) FROM lease WHERE owner NOT IN (SELECT id FROM owner)"),
  };
}

/** Parses a process name, which starts with the host and ends with the process id and start time. */
function readable(name: string): string {
  const [, host, pid] = /^(\S+) .*?(\d+) \d*$/.exec(name) ?? [];
  return pid === undefined ? "a process" : `process ${pid} on ${host}`;
}

export function checkParked({ database }: Look): Finding {
  const reasons = database
    .prepare(
      `SELECT parked.error, count(*) AS items FROM parked CROSS JOIN item ON item.key = parked.item
       WHERE item.parked = 1 GROUP BY parked.error ORDER BY items DESC, parked.error`,
    )
    .all();
  if (reasons.length === 0) return ok("none");
  const parked = reasons.reduce((sum, { items }) => sum + Number(items), 0);
  const shown = reasons
    .slice(0, REASONS_SHOWN)
    .map(({ error, items }) => `${items} × ${String(error).slice(0, REASON_LENGTH)}`);
  const more = reasons.length > shown.length ? `; ${reasons.length - shown.length} other reasons` : "";
  const what = `${count(parked, "item")} could not be embedded: ${shown.join("; ")}${more}`;
  return repairable(warning(what, `fix the cause, then ${REPAIR}`));
}

export function checkPending({ database, now, model }: Look): Finding {
  const { items, oldest } = row(
    database,
    `SELECT count(*) AS items, min(updated_at) AS oldest FROM item WHERE ${WAITS}`,
  );
  if (Number(items) === 0) return ok("no items are waiting to be embedded");
  const what = `${count(Number(items), "item")} not embedded; the oldest has waited for ${age(now - Number(oldest))}`;
  if (model === undefined) return ok(`${what}; no model is configured; search by words finds them`);
  if (now - Number(oldest) <= PENDING_MS) return ok(what);
  return warning(what, "open the file with its embedding model, and check that the model works");
}
