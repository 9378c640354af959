/** Imports entries and sessions. Existing ones are unchanged: a file must not shorten a retention. */
import type { BufferService } from "../service.js";
import type { Unit } from "../stores/store.js";
import type { EntryInput, SessionInput } from "./line.js";
import type { Numbered, Tally, Written } from "./report.js";
import { writeEach } from "./write-each.js";

export async function importEntries(
  service: BufferService,
  batch: readonly Numbered<EntryInput>[],
  tally: Tally,
): Promise<void> {
  const units: Unit[] = [];
  for (const { line } of batch) {
    const { kind, name, description, retentionMs } = line;
    const { items } = await service.store.entries({ kind, name, limit: 1 });
    const register = {
      op: "register",
      create: "ensure",
      entry: { kind, name, ...(description !== undefined && { description }) },
    } as const;
    const isNew = items.length === 0;
    const amend = { op: "amend", entry: { kind, name }, ...(retentionMs !== undefined && { retentionMs }) } as const;
    units.push(isNew && retentionMs !== undefined ? [register, amend] : [register]);
  }
  await register(service, units, "entries", tally);
}

export async function importSessions(
  service: BufferService,
  batch: readonly Numbered<SessionInput>[],
  tally: Tally,
): Promise<void> {
  const units = batch.map(({ line: { type: _, ...entry } }): Unit => {
    return [{ op: "register", create: "ensure", entry: { kind: "session", ...entry } }];
  });
  await register(service, units, "sessions", tally);
}

async function register(service: BufferService, units: readonly Unit[], as: Written, tally: Tally): Promise<void> {
  for (const done of await writeEach(service, units)) {
    const [first] = done ?? [];
    tally.count(first?.op === "register" && first.created ? as : "repeated");
  }
}
