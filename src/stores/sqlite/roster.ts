/**
 * Roster: the items of one space in memory, without their text: what ranking needs to know of each, and who stands
 * beside whom. A question by words looks at up to a thousand items around its hits; to read them from the file takes
 * longer than all the rest of the search.
 */
import type { Row } from "./driver.js";

/** An item without its text. */
export interface Member {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly session: number | null;
  readonly sequence: number | null;
  /** How many words it has, as the words index counts them. */
  readonly length: number;
  readonly name: string | null;
  /** The code of its role. */
  readonly role: number | null;
  readonly occurredAt: number;
  readonly recordedAt: number;
  readonly expiresAt: number | null;
}

/** The columns of `item` that a member is made of. */
const COLUMNS = "key, id, version, session, seq, length, name, role, occurred_at, recorded_at, expires_at, space";

/** Items as one text, `rows`: to hand them over row by row takes longer than to read them. */
export const membersWhere = (condition: string): string =>
  `SELECT json_group_array(json_array(${COLUMNS})) AS rows FROM (SELECT ${COLUMNS} FROM item WHERE ${condition})`;

type MemberRow = readonly [
  key: number,
  id: string,
  version: number,
  session: number | null,
  sequence: number | null,
  length: number,
  name: string | null,
  role: number | null,
  occurredAt: number,
  recordedAt: number,
  expiresAt: number | null,
  space: number,
];

/** What such a statement has read, and the keys of the spaces. */
export function readMembers(row: Row | undefined): (readonly [space: number, member: Member])[] {
  const rows = JSON.parse(String(row?.["rows"] ?? "[]")) as MemberRow[];
  return rows.map(
    ([key, id, version, session, sequence, length, name, role, occurredAt, recordedAt, expiresAt, space]) => [
      space,
      { key, id, version, session, sequence, length, name, role, occurredAt, recordedAt, expiresAt },
    ],
  );
}

/** What a member weighs, about: its numbers, its places in the two tables, its texts. */
const MEMBER_BYTES = 256;
const bytesOf = ({ id, name }: Member): number => MEMBER_BYTES + id.length + (name?.length ?? 0);

export class Roster {
  readonly #members = new Map<number, Member>();
  /** By session, in the order of their sequence. */
  readonly #sessions = new Map<number, Member[]>();
  #bytes = 0;

  get size(): number {
    return this.#members.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(key: number): Member | undefined {
    return this.#members.get(key);
  }

  /** In place of what it was before. */
  put(member: Member): void {
    this.remove(member.key);
    this.#members.set(member.key, member);
    this.#bytes += bytesOf(member);
    if (member.session === null) return;
    const session = this.#sessions.get(member.session);
    if (session) session.splice(placeOf(session, Number(member.sequence)), 0, member);
    else this.#sessions.set(member.session, [member]);
  }

  remove(key: number): void {
    const member = this.#members.get(key);
    if (!member) return;
    this.#members.delete(key);
    this.#bytes -= bytesOf(member);
    if (member.session === null) return;
    const session = this.#sessions.get(member.session) ?? [];
    session.splice(session.indexOf(member, placeOf(session, Number(member.sequence))), 1);
    if (session.length === 0) this.#sessions.delete(member.session);
  }

  /** Those of a session from one sequence number to another, both included, in order. */
  between(session: number, from: number, to: number): readonly Member[] {
    const members = this.#sessions.get(session);
    return members ? members.slice(placeOf(members, from), placeOf(members, to + 1)) : [];
  }
}

/** The first place whose member has this sequence number or a greater one. New members come last, so that is tried first. */
function placeOf(members: readonly Member[], sequence: number): number {
  let low = 0;
  let high = members.length;
  if (Number(members.at(-1)?.sequence ?? -1) < sequence) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(members[middle]?.sequence) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
