/** Random calls of both stores, compared with a simple model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.js";
import type { BufferStore, BufferStoreOptions, Lease } from "./buffer-store.js";
import { InMemoryBufferStore } from "./in-memory-buffer-store.js";
import { SqliteBufferStore } from "./sqlite-buffer-store.js";

type Session = string | undefined;
/** The result of a call, or its error. */
type Answer = unknown;

interface Step {
  readonly store: number;
  readonly call:
    | "push"
    | "delete"
    | "clear"
    | "lease"
    | "acknowledge"
    | "release"
    | "add"
    | "clearIds"
    | "pass"
    | "reopen";
  /** Picks an existing session, entries, an id. */
  readonly picks: readonly number[];
  readonly payload: fc.JsonValue;
}

const SESSIONS = ["a", "b"];
const IDS = ["1", "2", "3"];
const LEASE_MS = 100;

interface ModelEntry {
  readonly rowid: number;
  readonly payload: fc.JsonValue;
  readonly sessionId: string;
  readonly at: number;
  attempts: number;
  until: number;
}

class Model {
  entries: ModelEntry[] = [];
  ids = new Set<string>();
  last = 0;
  /** Everything ever leased, newest last. */
  leases: Lease[] = [];

  mine(session: Session): ModelEntry[] {
    return this.entries.filter(({ sessionId }) => session === undefined || session === sessionId);
  }

  take(session: Session, leases: readonly Lease[]): ModelEntry[] {
    const mine = this.mine(session);
    const of = ({ rowid, fence }: Lease) =>
      mine.find((entry) => entry.rowid === rowid && entry.attempts === fence && entry.until > 0);
    return [...new Set(leases.map(of).filter((entry) => entry !== undefined))];
  }
}

/** The stores under test share one file, or are one object. */
interface World {
  readonly sessions: readonly Session[];
  readonly stores: BufferStore<unknown>[];
  readonly open: (options: BufferStoreOptions) => BufferStore<unknown>;
  readonly canReopen: boolean;
}

const picked = <T>(list: readonly T[], picks: readonly number[]): T[] =>
  picks.flatMap((pick) => (list.length === 0 ? [] : [list[pick % list.length] as T]));

function perform(world: World, model: Model, clock: FakeClock, step: Step): { told: Answer; expected: Answer } {
  const at = step.store % world.stores.length;
  const session = world.sessions[at];
  const store = world.stores[at] as BufferStore<unknown>;
  const [pick = 0] = step.picks;
  const leases = picked(model.leases.slice(-6), step.picks);
  const scoped = (id: string): string => `${session ?? ""}/${id}`;
  const id = IDS[pick % IDS.length] as string;
  switch (step.call) {
    case "push": {
      const sessionId = session ?? (SESSIONS[pick % SESSIONS.length] as string);
      const entry = { rowid: ++model.last, payload: step.payload, sessionId, at: clock.now(), attempts: 0, until: 0 };
      model.entries.push(entry);
      return { told: store.push(step.payload, sessionId, "key"), expected: undefined };
    }
    case "delete": {
      const rowids = picked(model.entries, step.picks).map(({ rowid }) => rowid);
      const gone = model.mine(session).filter(({ rowid }) => rowids.includes(rowid));
      model.entries = model.entries.filter((entry) => !gone.includes(entry));
      return { told: store.deleteByRowids(rowids), expected: undefined };
    }
    case "clear": {
      const gone = model.mine(session);
      model.entries = model.entries.filter((entry) => !gone.includes(entry));
      return { told: store.clear(), expected: undefined };
    }
    case "lease": {
      const limit = 1 + (pick % 4);
      const free = model.mine(session).filter(({ until }) => until <= clock.now());
      const taken = free.slice(0, limit);
      for (const entry of taken) {
        entry.attempts++;
        entry.until = clock.now() + LEASE_MS;
        model.leases.push({ rowid: entry.rowid, fence: entry.attempts });
      }
      const told = store.lease({ limit, leaseMs: LEASE_MS }).map(({ rowid, fence, leasedUntil, attempts }) => {
        return { rowid, fence, leasedUntil, attempts };
      });
      const expected = taken.map(({ rowid, attempts, until }) => {
        return { rowid, fence: attempts, leasedUntil: until, attempts };
      });
      return { told, expected };
    }
    case "acknowledge": {
      const gone = model.take(session, leases);
      model.entries = model.entries.filter((entry) => !gone.includes(entry));
      return { told: store.acknowledge(leases), expected: gone.length };
    }
    case "release": {
      const free = model.take(session, leases);
      for (const entry of free) entry.until = 0;
      return { told: store.release(leases), expected: free.length };
    }
    case "add": {
      const expected = !model.ids.has(scoped(id));
      model.ids.add(scoped(id));
      return { told: store.addInjectedId(id), expected };
    }
    case "clearIds":
      for (const known of IDS) model.ids.delete(scoped(known));
      return { told: store.clearInjectedIds(), expected: undefined };
    case "pass":
      clock.advance((pick % 3) * (LEASE_MS / 2));
      return { told: undefined, expected: undefined };
    case "reopen":
      if (world.canReopen) {
        store.close();
        world.stores[at] = world.open({ clock, ...(session !== undefined && { session }) });
      }
      return { told: undefined, expected: undefined };
  }
}

function compare({ sessions, stores }: World, model: Model): void {
  for (const [at, store] of stores.entries()) {
    const session = sessions[at];
    const mine = model.mine(session).map(({ until: _, ...entry }) => ({ ...entry, sessionKey: "key" }));
    expect(JSON.stringify(store.getAll(), sorted)).toBe(JSON.stringify(mine, sorted));
    expect(store.count()).toBe(mine.length);
    for (const id of IDS) expect(store.hasInjectedId(id)).toBe(model.ids.has(`${session ?? ""}/${id}`));
  }
}

/** Sorts keys, so that JSON.stringify compares values. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const calls: readonly Step["call"][] = [
  ...(["push", "push", "push", "lease", "lease", "acknowledge", "release", "delete", "add"] as const),
  ...(["pass", "clear", "clearIds", "reopen"] as const),
];
/** JSON that survives a round trip: well-formed text without NUL, and no -0. */
const payload = fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" }).map((value) => JSON.parse(JSON.stringify(value)));
const steps = fc.array(
  fc.record({
    store: fc.nat(2),
    call: fc.constantFrom(...calls),
    picks: fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
    payload,
  }),
  { maxLength: 40, size: "max" },
);

function check(runs: number, make: (clock: FakeClock) => World): void {
  fc.assert(
    fc.property(steps, (all) => {
      const clock = new FakeClock();
      const world = make(clock);
      const model = new Model();
      try {
        for (const step of all) {
          const { told, expected } = perform(world, model, clock, step);
          expect(told).toEqual(expected);
          compare(world, model);
        }
      } finally {
        for (const store of world.stores) store.close();
      }
    }),
    { numRuns: runs },
  );
}

function worldOf(sessions: readonly Session[], clock: FakeClock, canReopen: boolean, open: World["open"]): World {
  const stores = sessions.map((session) => open({ clock, ...(session !== undefined && { session }) }));
  return { sessions, stores, open, canReopen };
}

it.each([undefined, "a"])("a store in memory does what the model does, bound to %s", (session) => {
  check(300, (clock) => worldOf([session], clock, false, (options) => new InMemoryBufferStore<unknown>(options)));
});

it("three stores on one file, one bound to none and two to sessions, do what the model does", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-buffer-model-"));
  let files = 0;
  check(60, (clock) => {
    const path = join(folder, `buffer-${++files}.db`);
    return worldOf([undefined, "a", "b"], clock, true, (options) => new SqliteBufferStore<unknown>(path, options));
  });
  rmSync(folder, { recursive: true });
});
