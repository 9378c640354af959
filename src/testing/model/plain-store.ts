/**
 * What a store should do, written to be read: a few arrays, and a loop for every question. Nothing here is fast, nothing
 * is shared with a real store. A unit that fails is undone by going back to a copy of everything.
 *
 * Ids of the registry are the store's own affair; here they are plain numbers and are compared nowhere.
 */
import type { ErrorCode } from "../../errors.js";
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
  type PlainSession,
  type PlainSpace,
  type PlainState,
  passes,
  payload,
  refOf,
  waitAgain,
} from "./plain-state.js";

const KEY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What a write should answer: the contract's `Done` without ids of the registry. */
export type PlainDone = { readonly op: Write["op"]; readonly [field: string]: unknown };
export type PlainOutcome = { readonly done: readonly PlainDone[] } | { readonly code: ErrorCode };

class Refusal {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    this.code = code;
  }
}

export class PlainStore {
  #state: PlainState = {
    commit: 0,
    keys: 0,
    spaces: [],
    sessions: [],
    items: [],
    answers: [],
    leases: [],
    index: undefined,
    removals: [],
    moved: {},
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

  get commit(): number {
    return this.#state.commit;
  }

  get stored(): number {
    return this.#state.items.length;
  }

  /** For a change that took the store several commits: they are numbered as it numbered them. */
  skipTo(commit: number): void {
    this.#state.commit = commit;
  }

  /** For a space that several commits have changed, in an order that is the store's. */
  adoptVersion(ref: SpaceRef, version: number): void {
    const space = this.#space(ref);
    if (!space) return;
    space.version = version;
    this.#state.moved[`${space.kind} ${space.name}`] = this.#state.commit;
  }

  apply(units: readonly (readonly Write[])[], now: number): readonly PlainOutcome[] {
    this.#now = now;
    const changed = new Set<number>();
    const outcomes = units.map((unit): PlainOutcome => {
      const before = structuredClone(this.#state);
      this.#touched = new Set();
      try {
        const done = unit.map((write) => this.#apply(write));
        for (const space of this.#touched) changed.add(space);
        return { done };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.#state = before;
        return { code: error.code };
      }
    });
    if (changed.size > 0) this.#state.commit++;
    for (const space of this.#state.spaces) if (changed.has(space.key)) space.version = this.#state.commit;
    return outcomes;
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

    if (write.idempotency && isPlaceKnown) {
      const { key, hash } = write.idempotency;
      const answer = this.#state.answers.find(
        (one) => one.space === known.key && one.session === inSession?.key && one.key === key,
      );
      if (answer && this.#now < answer.at + KEY_KEPT_MS) {
        if (answer.hash !== undefined && answer.hash !== hash) throw new Refusal("conflict");
        return { op: "add", ids: answer.ids, sequences: answer.sequences, repeated: true };
      }
    }

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
          commit: this.#state.commit + 1,
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
    if (write.idempotency) {
      const { key, hash } = write.idempotency;
      const place = { space: space.key, session: session?.key, key };
      this.#state.answers = this.#state.answers.filter(
        (one) => one.space !== place.space || one.session !== place.session || one.key !== key,
      );
      this.#state.answers.push({ ...place, hash, ids, sequences, at: this.#now });
    }
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
    item.commit = this.#state.commit + 1;
    this.#touched.add(item.space);
  }

  #forget({ target }: ForgetWrite): PlainDone {
    const done = { ...NOTHING_FORGOTTEN };
    if ("expired" in target) {
      const expired = this.#state.items.filter((item) => !this.#isVisible(item));
      for (const item of expired) this.#remove(item);
      return { ...done, items: expired.length };
    }
    if ("block" in target) throw new Error("the model has no blocks");
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
      this.#state.answers = this.#state.answers.filter((answer) => answer.session !== one.key);
      this.#endLease(one.key);
    }
    this.#touched.add(space.key);
    if (session) return { ...done, items: chosen.length, sessions: 1 };
    this.#state.spaces = this.#state.spaces.filter((one) => one !== space);
    this.#state.answers = this.#state.answers.filter((answer) => answer.space !== space.key);
    this.#endLease(space.key);
    this.#move(space.kind, space.name);
    this.#touchAllNaming(space);
    return { ...done, items: chosen.length, sessions: sessions.length, entries: 1 };
  }

  #dropVectorsWith(item: PlainItem): void {
    for (const space of dropVectorsWith(item, this.#state.items)) this.#touched.add(space);
  }

  #remove(item: PlainItem): void {
    this.#dropVectorsWith(item);
    this.#state.items = this.#state.items.filter((one) => one !== item);
    this.#state.removals.push({ space: item.space, commit: this.#state.commit + 1 });
    for (const answer of this.#state.answers) {
      if (answer.space === item.space && answer.ids.includes(item.row.id)) answer.hash = undefined;
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
      this.#move(space.kind, space.name);
      this.#move(space.kind, write.name);
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

  /** Spaces whose items or sessions show this space's name as their agent. */
  #touchAllNaming(agent: PlainSpace): void {
    for (const item of this.#state.items) if (item.agent === agent.key) this.#touched.add(item.space);
    for (const session of this.#state.sessions) if (session.agent === agent.key) this.#touched.add(session.space);
  }

  #move(kind: SpaceKind, name: string): void {
    this.#state.moved[`${kind} ${name}`] = this.#state.commit + 1;
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

  /** The item as a store should show it, but for the session's id. */
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

  // What reads should find. Times are given anew: a read may come later than the last commit.

  /** Visible items of the spaces that pass the filter, in the order of arrival. */
  items(spaces: readonly SpaceRef[], filter: RowFilter, now: number): readonly Omit<Item, "sessionId">[] {
    this.#now = now;
    const keys = new Set(spaces.map((ref) => this.#space(ref)?.key));
    return this.#state.items
      .filter((item) => keys.has(item.space) && this.#isVisible(item))
      .filter((item) => !filter.pending || !item.embedding)
      .map((item) => this.#item(item))
      .filter((item) => passes(item, filter));
  }

  /** Everything that is stored in the space, expired or not. */
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

  /** Those of the names that someone in the spaces has spoken under. */
  speakers(refs: readonly SpaceRef[], names: readonly string[]): readonly string[] {
    const keys = new Set(refs.map((ref) => this.#space(ref)?.key));
    const spoken = this.#state.items.filter((item) => keys.has(item.space)).map((item) => item.row.name?.toLowerCase());
    return names.filter((name) => spoken.includes(name.toLowerCase()));
  }

  version(ref: SpaceRef): number {
    return this.#space(ref)?.version ?? 0;
  }

  entries(kind: SpaceKind): readonly object[] {
    return this.#state.spaces.filter((space) => space.kind === kind).map(entryOf);
  }

  sessions(): readonly object[] {
    return this.#state.sessions.map((session) => this.#sessionEntry(session));
  }

  /** What changed in the space of that name; undefined where the name has been another's since. */
  changes(ref: SpaceRef, since: number): { readonly changed: readonly string[]; readonly removed: number } | undefined {
    const [[kind, name] = []] = Object.entries(ref);
    if ((this.#state.moved[`${kind} ${name}`] ?? 0) > since) return undefined;
    const key = this.#space(ref)?.key;
    const changed = this.#state.items.filter((item) => item.space === key && item.commit > since);
    const removed = this.#state.removals.filter((removal) => removal.space === key && removal.commit > since);
    return { changed: changed.map((item) => `${item.row.id}@${item.version}`), removed: removed.length };
  }
}
