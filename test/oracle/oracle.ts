/**
 * The answer to a question, computed from the list of what exists: every item is looked at, every number is counted
 * anew, nothing is kept. Formulas are the product's own; which items are looked at, and when, is not.
 */
import type { Hit, QueryOptions } from "holdfast";
import type { Store } from "holdfast/stores";
import { chunkItems, chunkStrategy, HashEmbedder } from "../support/product.js";
import type { Strategy } from "../support/vectors.js";
import { type Conversation, isVisible, type Row, type SpaceState } from "./conversation.js";
import { bruteForceScores, dot, fuse, meanVector, NEAREST, readSaid, readTerms, readTexts } from "./parts.js";

const DAY_MS = 86_400_000;

export interface Asked extends Pick<QueryOptions, "role" | "kind" | "tier" | "from" | "to" | "metadata"> {
  readonly text: string;
  /** Those of them that exist. */
  readonly spaces: readonly SpaceState[];
  /** Names of sessions and agents. */
  readonly sessions?: readonly string[];
  readonly agents?: readonly string[];
  readonly askedAt?: number;
  readonly recency: number;
}

export interface Expected {
  readonly row: Row;
  readonly score: number;
  readonly why: NonNullable<Hit["why"]>;
}

export class Oracle {
  readonly #conversation: Conversation;
  /** How items are cut for embedding; undefined if there is no embedder. */
  readonly #strategy: Strategy | undefined;
  readonly #embedder = new HashEmbedder();
  /** The vectors of texts; they depend on nothing else. */
  readonly #pieces = new Map<string, readonly Float32Array[]>();

  constructor(conversation: Conversation, strategy: Strategy | undefined) {
    this.#conversation = conversation;
    this.#strategy = strategy;
  }

  /** All that the question finds, best first. */
  async answer(asked: Asked, now: number): Promise<readonly Expected[]> {
    const { text, spaces, askedAt = now, recency } = asked;
    const stored = this.#conversation.rows.filter(({ space }) => spaces.includes(space));
    const question = { ...NO_QUESTION, text };
    const texts = await readTexts(speakersAmong(stored), question);
    const reading = { terms: readTerms(question), texts, ...readSaid(question, askedAt) };
    const words = new Map(
      spaces.flatMap((space) => [
        ...scoresOf(
          stored.filter((row) => row.space === space),
          reading.terms,
          now,
        ),
      ]),
    );
    const vector = await this.#vectorOf(reading.texts);
    const candidates = [];
    for (const row of stored) {
      if (!isVisible(row, now) || !passes(row, asked)) continue;
      const meaning = vector && (await this.#nearness(row, vector));
      const own = words.get(row.id) ?? 0;
      if (meaning === undefined && own === 0) continue;
      const { key, role, occurredAt, session, space } = row;
      const sessionId = session && `${space.kind} ${space.name} ${session.name}`;
      candidates.push({
        row,
        key,
        occurredAt,
        words: own,
        meaning,
        ...(role && { role }),
        ...(sessionId && { sessionId }),
      });
    }
    const nearest = new Set([...candidates].sort(byNearness).slice(0, NEAREST));
    const placed = candidates.map((one) => ({ ...one, isFar: one.words === 0 && !nearest.has(one) }));
    const fused = fuse(placed, { ...reading, recency, askedAt });
    return fused.map(({ candidate, score, why }) => ({ row: candidate.row, score, why }));
  }

  async #vectorOf(texts: readonly { readonly text: string; readonly weight: number }[]) {
    const parts = texts.filter(({ text }) => text.trim() !== "");
    if (!this.#strategy || parts.length === 0) return undefined;
    const vectors = await this.#embedder.embed(parts.map(({ text }) => text.trim()));
    const weighted = vectors.map((vector, at) => ({ vector, weight: Number(parts[at]?.weight) }));
    return weighted.length === 1 ? vectors[0] : meanVector(weighted);
  }

  /** The cosine of the item's best piece. */
  async #nearness(row: Row, vector: Float32Array): Promise<number | undefined> {
    const strategy = chunkStrategy(this.#strategy ?? "message");
    const earlier = strategy.neighbours === 0 ? [] : this.#earlierThan(row).slice(-strategy.neighbours);
    const name = JSON.stringify([row, ...earlier].map(({ name, content }) => [name, content]));
    const known = this.#pieces.get(name) ?? (await this.#embed(row, earlier));
    this.#pieces.set(name, known);
    // The product's own sum: which of two equals is nearer must not depend on the order of adding.
    return known.length === 0 ? undefined : Math.max(...known.map((piece) => dot(piece, 0, vector)));
  }

  /** In the same session, oldest first. */
  #earlierThan(row: Row): readonly Row[] {
    return this.#conversation.rows.filter(
      ({ session, sequence }) => session && session === row.session && Number(sequence) < Number(row.sequence),
    );
  }

  async #embed(row: Row, earlier: readonly Row[]): Promise<readonly Float32Array[]> {
    const strategy = chunkStrategy(this.#strategy ?? "message");
    const { tokensMax } = this.#embedder;
    const fit = { tokensMax, countTokens: (texts: readonly string[]) => this.#embedder.countTokens(texts) };
    const [chunked] = await chunkItems(strategy, [{ item: chunkable(row), earlier: earlier.map(chunkable) }], fit);
    return this.#embedder.embed((chunked?.chunks ?? []).map(({ text }) => text));
  }
}

const byNearness = (
  a: { readonly key: number; readonly meaning: number | undefined },
  b: { readonly key: number; readonly meaning: number | undefined },
): number => (b.meaning ?? -Infinity) - (a.meaning ?? -Infinity) || b.key - a.key;

const NO_QUESTION = { spaces: [], filter: {}, depth: 1, bufferOnly: false, recency: 0 };

const chunkable = ({ key, version, name, content }: Row) => ({
  key,
  version,
  ...(name !== undefined && { name }),
  content,
});

/** As much of a store as reading a question needs: who has spoken here. */
function speakersAmong(rows: readonly Row[]): Store {
  const spoken = new Set(rows.map(({ name }) => name?.toLowerCase()));
  const speakers: Store["speakers"] = async (_spaces, names) => names.filter((name) => spoken.has(name.toLowerCase()));
  return { speakers } as Partial<Store> as Store;
}

/** BM25 of the items of one space among their neighbours, by id. What is stored counts for how rare a word is. */
function scoresOf(stored: readonly Row[], terms: readonly string[], now: number): ReadonlyMap<string, number> {
  const documents = stored.map((row) => ({
    id: row.id,
    content: row.content,
    ...(row.name !== undefined && { name: row.name }),
    ...(row.session && { session: row.session.name, sequence: Number(row.sequence) }),
    isExpired: !isVisible(row, now),
  }));
  return bruteForceScores(documents, terms);
}

function passes(row: Row, { sessions, agents, role, kind, tier, from, to, metadata, askedAt }: Asked): boolean {
  const anyOf = (wanted: unknown, value: unknown): boolean =>
    wanted === undefined || (Array.isArray(wanted) ? wanted.includes(value) : wanted === value);
  return (
    anyOf(sessions, row.session?.name) &&
    anyOf(agents, row.agent?.name) &&
    anyOf(role, row.role) &&
    anyOf(kind, row.kind) &&
    anyOf(tier, row.tier) &&
    row.occurredAt >= Number(from ?? -Infinity) &&
    row.occurredAt < Number(to ?? Infinity) &&
    row.occurredAt < (askedAt === undefined ? Infinity : askedAt + DAY_MS) &&
    Object.entries(metadata ?? {}).every(([key, wanted]) => anyOf(wanted, row.metadata[key] ?? undefined))
  );
}
