/**
 * What a search by words reads of the items of one space: from the file, or from its roster if there is one. Either way
 * it is the same, and only what may be seen.
 */
import { all, type Condition, type SpaceRow, visibleIn } from "./filter.js";
import type { Reference, References } from "./references.js";
import type { Member, Roster } from "./roster.js";
import type { Statements } from "./statements.js";

/** What is known of an item to score it: its place in a session, if it is in one, and its words but for the terms. */
export type WordRow = Pick<Member, "key" | "session" | "sequence" | "length" | "name" | "expiresAt">;

/** A stretch of a session. */
export type Span = readonly [session: number, from: number, to: number];

export interface WordRows {
  /** Those of the items that may be seen and meet the condition, if one is given. */
  find(keys: readonly number[], narrowing: Condition | undefined): WordRow[];
  /** All that may be seen in these stretches, in the order of sessions and sequences. */
  within(spans: readonly Span[]): WordRow[];
  /** The items by reference, those that may be seen and meet the condition. */
  references(keys: readonly number[], narrowing: Condition | undefined): Reference[];
}

type FoundRow = readonly [key: number, session: number | null, sequence: number | null, length: number];

type AroundRow = readonly [...FoundRow, name: string | null, expiresAt: number | null];

export class FileRows implements WordRows {
  readonly #statements: Statements;
  readonly #references: References;
  readonly #space: SpaceRow;
  readonly #now: number;

  constructor(statements: Statements, references: References, space: SpaceRow, now: number) {
    this.#statements = statements;
    this.#references = references;
    this.#space = space;
    this.#now = now;
  }

  /** Name and expiry are left out: whoever stands in a session is read again with what is around it. */
  find(keys: readonly number[], narrowing: Condition | undefined): WordRow[] {
    if (keys.length === 0) return [];
    const { sql, values } = this.#condition(narrowing);
    const statement = this.#statements.get(
      `SELECT json_group_array(json_array(item.key, item.session, item.seq, item.length)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
    );
    const rows = JSON.parse(String(statement.get(JSON.stringify(keys), ...values)?.["rows"])) as FoundRow[];
    return rows.map(([key, session, sequence, length]) => ({
      key,
      session,
      sequence,
      length,
      name: null,
      expiresAt: null,
    }));
  }

  within(spans: readonly Span[]): WordRow[] {
    if (spans.length === 0) return [];
    const { sql, values } = this.#condition(undefined);
    const statement = this.#statements.get(
      `SELECT json_group_array(json_array(
         item.key, item.session, item.seq, item.length, item.name, item.expires_at)) AS rows
       FROM json_each(?) AS span CROSS JOIN item INDEXED BY item_around ON item.session = span.value ->> 0
         AND item.seq BETWEEN span.value ->> 1 AND span.value ->> 2
       WHERE ${sql}`,
    );
    const rows = JSON.parse(String(statement.get(JSON.stringify(spans), ...values)?.["rows"])) as AroundRow[];
    const read = rows.map(([key, session, sequence, length, name, expiresAt]) => ({
      key,
      session,
      sequence,
      length,
      name,
      expiresAt,
    }));
    return read.sort((a, b) => Number(a.session) - Number(b.session) || Number(a.sequence) - Number(b.sequence));
  }

  references(keys: readonly number[], narrowing: Condition | undefined): Reference[] {
    return this.#references.read(keys, this.#condition(narrowing));
  }

  #condition(narrowing: Condition | undefined): Condition {
    const visible = visibleIn([this.#space], this.#now, false);
    return narrowing ? all([visible, narrowing]) : visible;
  }
}

/** Conditions are for the file to judge; everything else comes from memory. */
export class RosterRows implements WordRows {
  readonly #roster: Roster;
  readonly #file: FileRows;
  readonly #references: References;
  readonly #space: SpaceRow;
  readonly #now: number;

  constructor(roster: Roster, file: FileRows, references: References, space: SpaceRow, now: number) {
    this.#roster = roster;
    this.#file = file;
    this.#references = references;
    this.#space = space;
    this.#now = now;
  }

  find(keys: readonly number[], narrowing: Condition | undefined): WordRow[] {
    return narrowing ? this.#file.find(keys, narrowing) : this.#members(keys);
  }

  within(spans: readonly Span[]): WordRow[] {
    const rows: WordRow[] = [];
    for (const [session, from, to] of spans) {
      for (const member of this.#roster.between(session, from, to)) if (this.#isVisible(member)) rows.push(member);
    }
    return rows;
  }

  references(keys: readonly number[], narrowing: Condition | undefined): Reference[] {
    if (narrowing) return this.#file.references(keys, narrowing);
    return this.#references.of(this.#members(keys), this.#space);
  }

  #members(keys: readonly number[]): Member[] {
    const members: Member[] = [];
    for (const key of keys) {
      const member = this.#roster.find(key);
      if (member && this.#isVisible(member)) members.push(member);
    }
    return members;
  }

  #isVisible({ expiresAt, recordedAt }: Member): boolean {
    const { retentionMs } = this.#space;
    return (
      (expiresAt === null || expiresAt > this.#now) && (retentionMs === null || recordedAt > this.#now - retentionMs)
    );
  }
}
