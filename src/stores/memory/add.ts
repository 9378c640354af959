/** Adds a round: the first answer if this is a retry, else the place it names, then its items in order. */
import { HoldfastError } from "../../errors.js";
import { takenByFact } from "../fact-rules.js";
import { Gone } from "../gone.js";
import type { AddWrite, Done, NewRow } from "../store.js";
import type { Attempt } from "./attempt.js";
import { forgetThing } from "./cascade.js";
import { findFact } from "./fact-records.js";
import { isVisible, plain, type Row, samePayload } from "./row.js";
import type { Session, Space } from "./space.js";
import type { State } from "./state.js";

type AddDone = Extract<Done, { op: "add" }>;

/** Where a round goes. */
interface Place {
  readonly space: Space;
  readonly home: Session | undefined;
  readonly agent: string | undefined;
  /** The sequence of the round's first new item. */
  readonly round: number | undefined;
}

/** `of`: "fact" for the item of a recorded fact. */
export function add(write: AddWrite, state: State, attempt: Attempt, of: "item" | "fact" = "item"): AddDone {
  if (write.items.length === 0) return { op: "add", ids: [], sequences: [], repeated: false };
  const answered = earlierAnswer(write, state, attempt);
  if (answered) return answered;
  const known = knownRows(write, state, attempt);
  if (known) return answer(write, known, true, state, attempt);
  const place = ensurePlace(write, state, attempt);
  const rows = write.items.map((item) => {
    if (of === "item") refuseFact(item, write.existing, place, attempt);
    return addItem(item, write.existing, place, state, attempt);
  });
  if (place.home) attempt.assign(place.home, { entry: { ...place.home.entry, updatedAt: attempt.now } });
  return answer(write, rows, false, state, attempt);
}

function earlierAnswer(write: AddWrite, state: State, attempt: Attempt): AddDone | undefined {
  if (!write.idempotency) return;
  const space = state.registry.find(write.space);
  const home = write.session === undefined ? undefined : space?.sessions.get(write.session);
  if (!space || (write.session !== undefined && !home)) return;
  const { key, hash } = write.idempotency;
  const found = space.answers.find(home?.entry.id, key, attempt.now);
  if (!found) return;
  if (found.hash !== undefined && found.hash !== hash) {
    throw new HoldfastError("conflict", "The idempotency key was used for another request.", {
      hint: "Use a new key for a new request, and the old key only to repeat the old request unchanged.",
      details: { key },
    });
  }
  return { op: "add", ids: [...found.ids], sequences: [...found.sequences], repeated: true };
}

/** The rows of the round if every item is there already and says the same; undefined if something is to be written. */
function knownRows(write: AddWrite, state: State, { now }: Attempt): readonly Row[] | undefined {
  const space = state.registry.find(write.space);
  if (!space || write.existing === "replace") return;
  const home = write.session === undefined ? undefined : space.sessions.get(write.session);
  if (write.session !== undefined && !home) return;
  const rows: Row[] = [];
  for (const item of write.items) {
    const row = space.rows.get(item.id);
    if (!row || !isVisible(row, space, now) || !samePayload(row, item, home)) return;
    rows.push(row);
  }
  return rows;
}

function ensurePlace(write: AddWrite, { registry }: State, attempt: Attempt): Place {
  const space = registry.ensure(write.space, attempt);
  if (write.agent !== undefined) registry.ensure({ agent: write.agent }, attempt);
  const home =
    write.session === undefined ? undefined : registry.ensureSession(space, write.session, write.agent, attempt);
  const first = write.continues === undefined ? undefined : space.rows.get(write.continues);
  return { space, home, agent: write.agent, round: home && (first?.round ?? home.nextSequence) };
}

/** The id of a fact is taken, also if it holds no longer and so has no item. */
function refuseFact({ id }: NewRow, existing: AddWrite["existing"], { space }: Place, { now }: Attempt): void {
  const fact = findFact(space, id, now);
  if (fact && (existing === "replace" || fact.state !== "holds")) throw takenByFact(id);
}

function addItem(item: NewRow, existing: AddWrite["existing"], place: Place, state: State, attempt: Attempt): Row {
  const { space, home } = place;
  const before = space.rows.get(item.id);
  if (!before || !isVisible(before, space, attempt.now)) {
    // What has expired goes for good; a fact that is being written has no item yet.
    if (before || !findFact(space, item.id, attempt.now)) forgetThing(item.id, space, state, attempt, new Gone());
    return insert(item, place, state, attempt);
  }
  if (existing === "same" && samePayload(before, item, home)) return before;
  if (existing === "replace" && before.home === home) return replace(before, item, place, state, attempt);
  throw new HoldfastError("conflict", `The id "${item.id}" is taken by an item that says something else.`, {
    hint:
      existing === "same"
        ? "Leave the id out to add a new item, or edit the item that has it."
        : "An item stays in its session: replace it there, or forget it first.",
    details: { id: item.id, version: before.version },
  });
}

function insert(item: NewRow, { space, home, agent, round }: Place, state: State, attempt: Attempt): Row {
  const { now, commit } = attempt;
  const row: Row = {
    ...content(item, agent),
    home,
    ...(home && { sequence: home.nextSequence }),
    ...(round !== undefined && { round }),
    recordedAt: now,
    updatedAt: now,
    version: 1,
    arrival: state.nextArrival(),
    commit,
  };
  if (home) attempt.assign(home, { nextSequence: home.nextSequence + 1 });
  state.put(space, row, attempt);
  return row;
}

function replace(before: Row, item: NewRow, { space, agent }: Place, state: State, attempt: Attempt): Row {
  const { home, sequence, round, recordedAt, arrival } = before;
  const row: Row = {
    ...content(item, agent),
    home,
    ...(sequence !== undefined && { sequence }),
    ...(round !== undefined && { round }),
    recordedAt,
    updatedAt: attempt.now,
    version: before.version + 1,
    arrival,
    commit: attempt.commit,
  };
  state.put(space, row, attempt);
  return row;
}

/** What an add says about an item, apart from its place. */
function content(item: NewRow, agent: string | undefined) {
  return {
    id: item.id,
    kind: item.kind,
    ...(agent !== undefined && { agent }),
    ...(item.role !== undefined && { role: item.role }),
    ...(item.name !== undefined && { name: item.name }),
    content: item.content,
    ...(item.parts && { parts: plain(item.parts) }),
    metadata: plain(item.metadata),
    tier: item.tier,
    occurredAt: item.occurredAt,
    ...(item.expiresAt !== undefined && { expiresAt: item.expiresAt }),
  };
}

function answer(write: AddWrite, rows: readonly Row[], repeated: boolean, state: State, attempt: Attempt): AddDone {
  const ids = rows.map((row) => row.id);
  const sequences = rows.flatMap((row) => row.sequence ?? []);
  if (write.idempotency) {
    const { key, hash } = write.idempotency;
    const sessionId = rows[0]?.home?.entry.id;
    const kept = { sessionId, ids: [...ids], sequences: [...sequences], at: attempt.now, hash };
    state.registry.find(write.space)?.answers.record(key, kept, attempt);
  }
  return { op: "add", ids, sequences, repeated };
}
