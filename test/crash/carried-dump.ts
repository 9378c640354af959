/** Reads all that a file holds of a lane, through what callers have to read it, or else through the store. */
import type { Memory } from "holdfast";
import type { SqliteStore } from "holdfast/stores";
import type { CarriedFound } from "./carried-found.js";
import { type CARRIED_LANES, COMMON, operationAt, POINTS } from "./carried-operation.js";
import { digest } from "./operation.js";

type Scope = (typeof CARRIED_LANES)[number];
type Session = ReturnType<Memory["session"]>;

/** More than a lane ever holds: what is read comes in one page. */
const ALL = 1_000;
const ANY_STATE = ["holds", "ended", "retracted"] as const;

export async function dump(memory: Memory, store: SqliteStore, scope: Scope): Promise<CarriedFound> {
  const [session, space] = [memory.session(scope), memory.session({ user: scope.user })];
  const { items } = await session.list({ order: "asc", limit: ALL, kind: "message" });
  const { items: facts } = await session.facts.list({ state: ANY_STATE, limit: ALL });
  const everything = (await space.list({ limit: ALL })).items;
  const hits = await space.query(COMMON, { topK: ALL });
  const { items: points } = await space.points.list(POINTS, { limit: ALL });
  const { entries, resets } = await store.ledger({ user: scope.user }, scope.session);

  const texts = new Map([...everything, ...facts].map(({ id, content }) => [id, content]));
  const textOf = (id: string): string => texts.get(id) ?? `nothing of id ${id}`;
  return {
    messages: items.map(({ content, sequence = 0 }) => ({ text: content, sequence })),
    blocks: await dumpBlocks(session, store),
    facts: facts.map(({ content, state, confidence, version, spans, sources }) => ({
      text: content,
      ...{ state, confidence, version },
      spans:
        state === "retracted"
          ? []
          : spans.map(({ from, to, supersededBy }) => ({
              from: operationAt(from),
              ...(to !== undefined && { to: operationAt(to) }),
              ...(supersededBy !== undefined && { by: textOf(supersededBy) }),
            })),
      sources: sources.map(({ message }) => (message === undefined ? "the session" : textOf(message))),
    })),
    points: points.map(({ id, vector, payload }) => ({ id, vector: Array.from(vector), payload })),
    window: entries.map(({ ref }) => textOf((JSON.parse(ref) as readonly string[]).at(-1) ?? ref)),
    resets,
    listed: everything.map(({ content }) => content),
    searched: hits.map(({ content }) => content),
  };
}

/** With the whole log of each, the creation included. */
async function dumpBlocks({ blocks }: Session, store: SqliteStore): Promise<CarriedFound["blocks"]> {
  const dumped: CarriedFound["blocks"][number][] = [];
  for (const { id, space, name, content, version } of await blocks.list()) {
    const edits = (await store.blockLog({ space, id, limit: 0 })).toReversed();
    const log = edits.map((edit) => ({
      version: edit.version,
      old: digest(edit.old),
      new: digest(edit.new),
      reason: edit.reason,
    }));
    dumped.push({ name, content, version, log });
  }
  return dumped;
}
