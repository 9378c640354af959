/**
 * What a store should do, written for readability: a few arrays, and a loop for every question. Nothing here is fast,
 * and nothing is shared with a real store. A unit that fails is undone by restoring a copy of everything.
 *
 * The store assigns the ids of the registry; here they are plain numbers and are never compared.
 */
import type { ErrorCode } from "../../errors.js";
import { type Note, namedIn, type OnceWrite } from "../../stores/receipts.js";
import { unmatched } from "../../stores/row-filter.js";
import {
  type AddWrite,
  type AmendWrite,
  type ForgetWrite,
  type NewRow,
  NOTHING_FORGOTTEN,
  type RegisterWrite,
  type RowFilter,
  type UpdateWrite,
  type Write,
} from "../../stores/store.js";
import type { Item, SpaceKind, SpaceRef } from "../../types.js";
import type { BruteForceDocument } from "../brute-force.js";
import { PlainIndexing } from "./plain-indexing.js";
import {
  dropVectorsWith,
  entryOf,
  type PlainItem,
  type PlainReceipt,
  type PlainSession,
  type PlainSpace,
  type PlainState,
  payload,
  refOf,
  waitAgain,
} from "./plain-state.js";

/** The expected answer to a write: the contract's `Done` without ids of the registry. */
export type PlainDone = { readonly op: Write["op"]; readonly [field: string]: unknown };
export type PlainOutcome = { readonly done: readonly PlainDone[] } | { readonly code: ErrorCode };

/** A space at one moment. */
export interface PlainVersion {
  readonly key: number;
  readonly version: number;
}

class Refusal {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    this.code = code;
  }
}

export class PlainStore {
  #state: PlainState = {
    keys: 0,
    spaces: [],
    sessions: [],
    items: [],
    receipts: [],
    leases: [],
    index: undefined,
    removals: [],
  };
  /** The other half of the contract. */
  readonly indexing = new PlainIndexing({
    state: () => this.#state,
    isVisible: (item, now) => this.#isVisibleAt(item, now),
    space: (ref) => this.#space(ref),
    session: (space, name) => this.#session(space, name),
    touch: (space) => this.#touched.add(space),
  });
  #touched = new Set<number>();
  #now = 0;
  /** Whether what was applied last has changed any space. */
  changed = false;

  get stored(): number {
    return this.#state.items.length;
  }

  apply(units: readonly (readonly Write[])[], now: number): readonly PlainOutcome[] {
    this.#now = now;
    const changed = new Set<number>();
    const outcomes = units.map((unit): PlainOutcome => {
      const before = structuredClone(this.#state);
      this.#touched = new Set();
      try {
        const done = this.#applyUnit(unit);
        for (const space of this.#touched) changed.add(space);
        return { done };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.#state = before;
        return { code: error.code };
      }
    });
    this.changed = changed.size > 0;
    for (const space of this.#state.spaces) if (changed.has(space.key)) space.version++;
    return outcomes;
  }

  /** No sequence of operations is long enough for a receipt to expire: each adds at most an hour of use. */
  #applyUnit(unit: readonly Write[]): readonly PlainDone[] {
    const [once, ...writes] = unit;
    if (once?.op !== "once") return unit.map((write) => this.#apply(write));
    const receipt = this.#receiptOf(once);
    if (receipt?.hash !== undefined && receipt.hash !== once.hash) throw new Refusal("conflict");
    if (receipt) return [{ op: "once", first: receipt.notes }];
    const done = writes.map((write) => this.#apply(write));
    const notes = writes.map((write, at) => noteOf(write, done[at]));
    const place = this.#placeOf(once);
    if (place) this.#state.receipts.push({ ...place, key: once.key, hash: once.hash, notes });
    return [{ op: "once" }, ...done];
  }

  #receiptOf(once: OnceWrite): PlainReceipt | undefined {
    const place = this.#placeOf(once);
    return this.#state.receipts.find(
      ({ space, session, key }) => key === once.key && space === place?.space && session === place.session,
    );
  }

  #placeOf({ space: ref, session: name }: OnceWrite): Pick<PlainReceipt, "space" | "session"> | undefined {
    const space = ref && this.#space(ref);
    const session = space && name !== undefined ? this.#session(space, name) : undefined;
    return space && (name === undefined || session) ? { space: space.key, session: session?.key } : undefined;
  }

  #apply(write: Write): PlainDone {
    if (write.op === "add") return this.#add(write);
    if (write.op === "update") return this.#update(write);
    if (write.op === "forget") return this.#forget(write);
    if (write.op === "register") return this.#register(write);
    if (write.op === "amend") return this.#amend(write);
    if (write.op === "index") return this.indexing.index(write, this.#now);
    if (write.op === "park") return this.indexing.park(write, this.#now);
    if (write.op === "replay") return this.indexing.replay(write, this.#now);
    throw new Error(`the model is not asked to ${write.op} as a part of a unit`);
  }

  #add(write: AddWrite): PlainDone {
    if (write.items.length === 0) return { op: "add", ids: [], sequences: [], repeated: false };
    const known = this.#space(write.space);
    const inSession = known && write.session !== undefined ? this.#session(known, write.session) : undefined;
    const isPlaceKnown = known !== undefined && (write.session === undefined || inSession !== undefined);

    const isRepeat =
      isPlaceKnown &&
      write.existing === "same" &&
      write.items.every((row) => {
        const item = this.#visible(known, row.id);
        return item !== undefined && payload(item.row, item.session) === payload(row, inSession?.key);
      });
    const space = isRepeat ? known : this.#ensureSpace(write.space);
    const agent = write.agent === undefined || isRepeat ? undefined : this.#ensureSpace({ agent: write.agent }).key;
    const session =
      write.session === undefined ? undefined : (inSession ?? this.#createSession(space, write.session, agent));
    const round = session?.next;

    const items: PlainItem[] = [];
    for (const row of write.items) {
      const taken = this.#find(space, row.id);
      if (taken && !this.#isVisible(taken)) this.#remove(taken);
      const item = this.#visible(space, row.id);
      if (!item) {
        const fresh: PlainItem = {
          space: space.key,
          session: session?.key,
          agent,
          sequence: session?.next,
          round,
          row,
          recordedAt: this.#now,
          updatedAt: this.#now,
          version: 1,
          spaceVersion: space.version + 1,
          key: undefined,
          embedding: undefined,
          parking: undefined,
          attempts: 0,
        };
        if (session) session.next++;
        this.#state.items.push(fresh);
        this.#touched.add(space.key);
        items.push(fresh);
      } else if (write.existing === "same") {
        if (payload(item.row, item.session) !== payload(row, session?.key)) throw new Refusal("conflict");
        items.push(item);
      } else {
        if (item.session !== session?.key) throw new Refusal("conflict");
        this.#edit(item, row);
        item.agent = agent;
        items.push(item);
      }
    }
    if (session && !isRepeat) session.updatedAt = this.#now;
    const ids = items.map((item) => item.row.id);
    const sequences = items.flatMap((item) => item.sequence ?? []);
    return { op: "add", ids, sequences, repeated: isRepeat };
  }

  #update({ space: ref, id, patch, expectVersion }: UpdateWrite): PlainDone {
    const space = this.#space(ref);
    const item = space && this.#visible(space, id);
    if (!item) throw new Refusal("not_found");
    if (expectVersion !== undefined && expectVersion !== item.version) throw new Refusal("conflict");
    const row: Record<string, unknown> = { ...item.row };
    if (patch.content !== undefined) delete row["parts"];
    for (const [field, value] of Object.entries(patch)) {
      if (value === null) delete row[field];
      else if (value !== undefined) row[field] = value;
    }
    this.#edit(item, row as unknown as NewRow);
    return { op: "update", version: item.version };
  }

  #edit(item: PlainItem, row: NewRow): void {
    if (item.row.name !== row.name || item.row.content !== row.content) this.#dropVectorsWith(item);
    else if (!item.embedding) waitAgain(item);
    item.row = row;
    item.version++;
    item.updatedAt = this.#now;
    item.spaceVersion = (this.#byKey(item.space)?.version ?? 0) + 1;
    this.#touched.add(item.space);
  }

  #forget({ target }: ForgetWrite): PlainDone {
    const done = { ...NOTHING_FORGOTTEN };
    if ("expired" in target) {
      const expired = this.#state.items.filter((item) => !this.#isVisible(item));
      for (const item of expired) this.#remove(item);
      return { ...done, items: expired.length };
    }
    if ("block" in target || "points" in target) throw new Error("the model has no blocks and no points");
    const space = this.#space(target.space);
    if (!space) return done;
    const session = "session" in target ? this.#session(space, target.session) : undefined;
    if ("session" in target && !session) return done;
    const chosen = this.#state.items.filter(
      (item) =>
        item.space === space.key &&
        (!("ids" in target) || target.ids.includes(item.row.id)) &&
        (!session || item.session === session.key),
    );
    for (const item of chosen) this.#remove(item);
    if ("ids" in target || !target.entry) return { ...done, items: chosen.length };
    const sessions = session ? [session] : this.#state.sessions.filter((one) => one.space === space.key);
    for (const one of sessions) {
      this.#state.sessions = this.#state.sessions.filter((other) => other !== one);
      this.#state.receipts = this.#state.receipts.filter(({ session }) => session !== one.key);
      this.#endLease(one.key);
    }
    this.#touched.add(space.key);
    if (session) return { ...done, items: chosen.length, sessions: 1 };
    this.#state.spaces = this.#state.spaces.filter((one) => one !== space);
    this.#state.receipts = this.#state.receipts.filter((receipt) => receipt.space !== space.key);
    this.#endLease(space.key);
    this.#touchAllNaming(space);
    return { ...done, items: chosen.length, sessions: sessions.length, entries: 1 };
  }

  #dropVectorsWith(item: PlainItem): void {
    for (const space of dropVectorsWith(item, this.#state.items)) this.#touched.add(space);
  }

  #remove(item: PlainItem): void {
    this.#dropVectorsWith(item);
    this.#state.items = this.#state.items.filter((one) => one !== item);
    const spaceVersion = (this.#byKey(item.space)?.version ?? 0) + 1;
    this.#state.removals.push({ space: item.space, spaceVersion });
    for (const receipt of this.#state.receipts) {
      if (receipt.space === item.space && namedIn(receipt.notes).includes(item.row.id)) receipt.hash = undefined;
    }
    this.#touched.add(item.space);
  }

  #endLease(lane: number): void {
    this.#state.leases = this.#state.leases.filter((lease) => lease.lane !== lane);
  }

  #register({ entry, create }: RegisterWrite): PlainDone {
    if (entry.kind === "session") {
      const space = this.#space(entry.space);
      const found = space && this.#session(space, entry.name);
      if (found && create === "new") throw new Refusal("conflict");
      if (found) return { op: "register", entry: this.#sessionEntry(found), created: false };
      const agent = entry.agent === undefined ? undefined : this.#ensureSpace({ agent: entry.agent }).key;
      const session = this.#createSession(this.#ensureSpace(entry.space), entry.name, agent);
      return { op: "register", entry: this.#sessionEntry(session), created: true };
    }
    const found = this.#named(entry.kind, entry.name);
    if (found && create === "new") throw new Refusal("conflict");
    const space = found ?? this.#createSpace(entry.kind, entry.name, entry.description);
    return { op: "register", entry: entryOf(space), created: !found };
  }

  #amend(write: AmendWrite): PlainDone {
    const { entry } = write;
    if (entry.kind === "session") {
      const space = this.#space(entry.space);
      const session = space && this.#session(space, entry.name);
      if (!session) throw new Refusal("not_found");
      if (write.name !== undefined && write.name !== session.name) {
        if (this.#session(space, write.name)) throw new Refusal("conflict");
        session.name = write.name;
        session.updatedAt = this.#now;
        this.#touched.add(space.key);
      }
      return { op: "amend", entry: this.#sessionEntry(session) };
    }
    const space = this.#named(entry.kind, entry.name);
    if (!space) throw new Refusal("not_found");
    const before = JSON.stringify(entryOf(space));
    if (write.name !== undefined && write.name !== space.name) {
      if (this.#named(entry.kind, write.name)) throw new Refusal("conflict");
      space.name = write.name;
      this.#touchAllNaming(space);
    }
    if (write.description !== undefined) space.description = write.description ?? undefined;
    if (write.retentionMs !== undefined) space.retentionMs = write.retentionMs ?? undefined;
    if (JSON.stringify(entryOf(space)) !== before) {
      space.updatedAt = this.#now;
      this.#touched.add(space.key);
    }
    return { op: "amend", entry: entryOf(space) };
  }

  /** Marks the spaces whose items or sessions name this agent. */
  #touchAllNaming(agent: PlainSpace): void {
    for (const item of this.#state.items) if (item.agent === agent.key) this.#touched.add(item.space);
    for (const session of this.#state.sessions) if (session.agent === agent.key) this.#touched.add(session.space);
  }

  #named(kind: SpaceKind, name: string): PlainSpace | undefined {
    return this.#state.spaces.find((space) => space.kind === kind && space.name === name);
  }

  #space(ref: SpaceRef): PlainSpace | undefined {
    const [[kind, name] = []] = Object.entries(ref);
    return this.#named(kind as SpaceKind, name ?? "");
  }

  #ensureSpace(ref: SpaceRef): PlainSpace {
    const [[kind, name] = []] = Object.entries(ref);
    return this.#space(ref) ?? this.#createSpace(kind as SpaceKind, name ?? "", undefined);
  }

  #createSpace(kind: SpaceKind, name: string, description: string | undefined): PlainSpace {
    const times = { createdAt: this.#now, updatedAt: this.#now };
    const space = { key: ++this.#state.keys, kind, name, description, retentionMs: undefined, ...times, version: 0 };
    this.#state.spaces.push(space);
    this.#touched.add(space.key);
    return space;
  }

  #session(space: PlainSpace, name: string): PlainSession | undefined {
    return this.#state.sessions.find((session) => session.space === space.key && session.name === name);
  }

  #createSession(space: PlainSpace, name: string, agent: number | undefined): PlainSession {
    const times = { createdAt: this.#now, updatedAt: this.#now };
    const session = { key: ++this.#state.keys, space: space.key, name, agent, ...times, next: 1 };
    this.#state.sessions.push(session);
    this.#touched.add(space.key);
    return session;
  }

  #find(space: PlainSpace, id: string): PlainItem | undefined {
    return this.#state.items.find((item) => item.space === space.key && item.row.id === id);
  }

  #visible(space: PlainSpace, id: string): PlainItem | undefined {
    const item = this.#find(space, id);
    return item && this.#isVisible(item) ? item : undefined;
  }

  #isVisible(item: PlainItem): boolean {
    return this.#isVisibleAt(item, this.#now);
  }

  #isVisibleAt(item: PlainItem, now: number): boolean {
    const retentionMs = this.#byKey(item.space)?.retentionMs;
    const isExpired = item.row.expiresAt !== undefined && item.row.expiresAt <= now;
    const isTooOld = retentionMs !== undefined && item.recordedAt + retentionMs <= now;
    return !isExpired && !isTooOld;
  }

  #byKey(key: number | undefined): PlainSpace | undefined {
    return this.#state.spaces.find((space) => space.key === key);
  }

  #sessionEntry(session: PlainSession) {
    const agent = this.#byKey(session.agent)?.name;
    const { name, createdAt, updatedAt } = session;
    return {
      name,
      space: refOf(this.#byKey(session.space)),
      ...(agent !== undefined && { agent }),
      createdAt,
      updatedAt,
    };
  }

  /** The item as a store should return it, except for the session's id. */
  #item(item: PlainItem): Omit<Item, "sessionId"> {
    const session = this.#state.sessions.find((one) => one.key === item.session);
    const agent = this.#byKey(item.agent)?.name;
    const { recordedAt, updatedAt, version, sequence, round } = item;
    return {
      ...structuredClone(item.row),
      space: refOf(this.#byKey(item.space)),
      ...(session && { session: session.name }),
      ...(agent !== undefined && { agent }),
      ...(sequence !== undefined && { sequence }),
      ...(round !== undefined && { round }),
      recordedAt,
      updatedAt,
      version,
    };
  }

  // Expected results of reads. Times are passed in: a read may come later than the last commit.

  /** Visible items of the spaces that match the filter, in order of arrival. */
  items(spaces: readonly SpaceRef[], filter: RowFilter, now: number): readonly Omit<Item, "sessionId">[] {
    this.#now = now;
    const keys = new Set(spaces.map((ref) => this.#space(ref)?.key));
    return this.#state.items
      .filter((item) => keys.has(item.space) && this.#isVisible(item))
      .filter((item) => !filter.pending || !item.embedding)
      .map((item) => this.#item(item))
      .filter((item) => unmatched(item, filter).length === 0);
  }

  /** Everything stored in the space, expired or not. */
  documents(ref: SpaceRef, now: number): readonly BruteForceDocument[] {
    const space = this.#space(ref);
    return this.#state.items
      .filter((item) => item.space === space?.key)
      .map((item) => ({
        ...item.row,
        ...(item.session !== undefined && { session: String(item.session) }),
        ...(item.sequence !== undefined && { sequence: item.sequence }),
        isExpired: !this.#isVisibleAt(item, now),
      }));
  }

  /** The names among these under which someone in the spaces has spoken. */
  speakers(refs: readonly SpaceRef[], names: readonly string[]): readonly string[] {
    const keys = new Set(refs.map((ref) => this.#space(ref)?.key));
    const spoken = this.#state.items.filter((item) => keys.has(item.space)).map((item) => item.row.name?.toLowerCase());
    return names.filter((name) => spoken.includes(name.toLowerCase()));
  }

  /** Which space has the name, and at which version it is. */
  version(ref: SpaceRef): PlainVersion | undefined {
    const space = this.#space(ref);
    return space && { key: space.key, version: space.version };
  }

  entries(kind: SpaceKind): readonly object[] {
    return this.#state.spaces.filter((space) => space.kind === kind).map(entryOf);
  }

  sessions(): readonly object[] {
    return this.#state.sessions.map((session) => this.#sessionEntry(session));
  }

  /** What changed in the space of that name; all there is if it was another's, or nobody's, then. */
  changes(ref: SpaceRef, since: PlainVersion | undefined) {
    const key = this.#space(ref)?.key;
    const from = since?.key === key ? (since?.version ?? 0) : 0;
    const changed = this.#state.items.filter((item) => item.space === key && item.spaceVersion > from);
    const removed = this.#state.removals.filter((removal) => removal.space === key && removal.spaceVersion > from);
    return {
      changed: changed.map((item) => `${item.row.id}@${item.version}`),
      removed: removed.length,
      complete: since === undefined || since.key === key,
    };
  }
}

function noteOf(write: Write, done: PlainDone | undefined): Note {
  if (write.op === "update") return { op: "update", id: write.id, version: Number(done?.["version"]) };
  return { op: "add", ids: done?.["ids"] as string[], sequences: done?.["sequences"] as number[] };
}
