/**
 * Replays a conversation turn by turn: before a turn is added, its text is the query of a context, once with and once without
 * the ledger. Each conversation is one user; its sessions are sessions, each with its own window.
 */
import { type Context, type Memory, renderText } from "holdfast";
import { Carried } from "./context-carried.js";
import type { RecallTurn } from "./recall-data.js";

/** The result of one turn. Bytes are those of the call with the ledger. */
export interface TurnRow {
  readonly conversation: string;
  readonly turn: string;
  readonly ms: number;
  /** What the call with the ledger could not do, if anything. */
  readonly trouble: string;
  readonly ledger: Given;
  readonly fresh: Given;
  readonly bytes: { readonly all: number; readonly prefix: number; readonly stable: number };
}

export interface Given {
  readonly prefix: number;
  readonly tail: number;
  readonly total: number;
  readonly saved: number;
}

export interface Replayed {
  readonly rows: readonly TurnRow[];
  /** Number of writes to the prefix. */
  readonly changes: number;
  readonly partial: number;
}

/** Requires the turns of one conversation, in order. */
export async function replay(
  memory: Memory,
  turns: readonly RecallTurn[],
  budgetTokens: number,
  onTurn: () => void,
): Promise<Replayed> {
  const carried = new Carried();
  const rows: TurnRow[] = [];
  let partial = 0;
  let before = "";
  for (const turn of turns) {
    const { conversation, message } = turn;
    const session = memory.session({ user: conversation, session: turn.session });
    await carried.before(session, turn);
    const asked = { query: message.content, budgetTokens, ...(message.occurredAt && { askedAt: message.occurredAt }) };
    const started = performance.now();
    const context = await session.context(asked);
    const ms = performance.now() - started;
    const fresh = await session.context({ ...asked, fresh: true });
    const bytes = {
      all: Buffer.byteLength(renderText(context)),
      prefix: Buffer.byteLength(context.prefix),
      stable: commonBytes(before, context.prefix),
    };
    const trouble = context.degraded ?? (context.partial ? "partial" : "");
    rows.push({ conversation, turn: message.id, ms, trouble, ledger: givenBy(context), fresh: givenBy(fresh), bytes });
    partial += Number(context.partial) + Number(fresh.partial);
    before = context.prefix;
    await session.add([message]);
    onTurn();
  }
  return { rows, changes: carried.changes, partial };
}

const givenBy = ({ tokens: { prefix, tail, total, saved } }: Context): Given => ({ prefix, tail, total, saved });

/** The length of the common prefix in bytes: what a provider's cache can reuse. */
function commonBytes(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return at;
  return length;
}
