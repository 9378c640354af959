/**
 * The answer to a question, computed from the list of what exists: every item is read, every number is counted each
 * time, and nothing is cached. The formulas are the product's own; the choice of items is not.
 */
import type { Hit, QueryOptions } from "holdfast";
import type { Store } from "holdfast/stores";
import { chunkItems, chunkStrategy, HashEmbedder, rounded } from "../support/product.js";
import type { Strategy } from "../support/vectors.js";
import { type Conversation, isVisible, type Row, type SpaceState } from "./conversation.js";
import {
  analyse,
  bruteForceLookup,
  bruteForceScores,
  contentTerms,
  datesIn,
  dot,
  exactMatches,
  fuse,
  lookupsIn,
  meanVector,
  NEAREST,
  refersBack,
  roundedQuestion,
  textsOf,
} from "./parts.js";

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

  /** Everything that the question finds, best first. */
  async answer(asked: Asked, now: number): Promise<readonly Expected[]> {
    const { text, spaces, askedAt = now, recency } = asked;
    const stored = this.#conversation.rows.filter(({ space }) => spaces.includes(space));
    const question = { ...NO_QUESTION, text };
    const texts = await textsOf(speakersAmong(stored), question);
    const terms = contentTerms([...analyse(text).keys()]);
    const { ranges: dates, isRelative } = datesIn(text, askedAt);
    const reading = { terms, texts, dates, isRelative, refersBack: refersBack(text) };
    const inSpaces = <T>(read: (documents: readonly Document[]) => ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
      new Map(
        spaces.flatMap((space) => [
          ...read(
            documentsOf(
              stored.filter((row) => row.space === space),
              now,
            ),
          ),
        ]),
      );
    const words = inSpaces((documents) => bruteForceScores(documents, reading.terms));
    const lookups = lookupsIn(text);
    const bits = inSpaces((documents) =>
      bruteForceLookup(
        documents,
        lookups.map(({ term }) => term),
      ),
    );
    const seen = stored.filter((row) => isVisible(row, now) && passes(row, asked));
    const containing = seen.map(({ id }) => ({ id, score: bits.get(id) ?? 0 }));
    const exact = new Map([...exactMatches(lookups, containing)].map(([{ id }, match]) => [id, match]));
    const vector = await this.#vectorOf(reading.texts);
    const candidates = [];
    for (const row of seen) {
      const meaning = vector && (await this.#nearness(row, vector));
      const own = words.get(row.id) ?? 0;
      if (meaning === undefined && own === 0 && !exact.has(row.id)) continue;
      const { key, role, occurredAt, session, space } = row;
      const sessionId = session && `${space.kind} ${space.name} ${session.name}`;
      candidates.push({
        row,
        key,
        occurredAt,
        words: own,
        meaning,
        exact: exact.get(row.id),
        ...(role && { role }),
        ...(sessionId && { sessionId }),
      });
    }
    const nearest = new Set([...candidates].sort(byNearness).slice(0, NEAREST));
    const placed = candidates.map((one) => ({ ...one, isFar: one.words === 0 && !one.exact && !nearest.has(one) }));
    const fused = fuse(placed, { ...reading, recency, askedAt });
    return fused.map(({ candidate, score, why }) => ({ row: candidate.row, score, why }));
  }

  async #vectorOf(texts: readonly { readonly text: string; readonly weight: number }[]) {
    const parts = texts.filter(({ text }) => text.trim() !== "");
    if (!this.#strategy || parts.length === 0) return undefined;
    const vectors = await this.#embedder.embed(parts.map(({ text }) => text.trim()));
    const weighted = vectors.map((vector, at) => ({ vector, weight: Number(parts[at]?.weight) }));
    return roundedQuestion(weighted.length === 1 ? (vectors[0] as Float32Array) : meanVector(weighted));
  }

  /** The cosine of the item's best chunk. */
  async #nearness(row: Row, vector: Float32Array): Promise<number | undefined> {
    const strategy = chunkStrategy(this.#strategy ?? "message");
    const earlier = strategy.neighbours === 0 ? [] : this.#earlierThan(row).slice(-strategy.neighbours);
    const name = JSON.stringify([row, ...earlier].map(({ name, content }) => [name, content]));
    const known = this.#pieces.get(name) ?? (await this.#embed(row, earlier));
    this.#pieces.set(name, known);
    // Of rounded vectors every sum is exact: which of two equals is nearer depends on no order of adding.
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
    return (await this.#embedder.embed((chunked?.chunks ?? []).map(({ text }) => text))).map(rounded);
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

/** The part of a store that reading a question needs: who has spoken here. */
function speakersAmong(rows: readonly Row[]): Store {
  const spoken = new Set(rows.map(({ name }) => name?.toLowerCase()));
  const speakers: Store["speakers"] = async (_spaces, names) => names.filter((name) => spoken.has(name.toLowerCase()));
  return { speakers } as Partial<Store> as Store;
}

/** The items of one space for brute force. Everything stored counts for the idf of a word. */
function documentsOf(stored: readonly Row[], now: number) {
  return stored.map((row) => ({
    id: row.id,
    content: row.content,
    ...(row.name !== undefined && { name: row.name }),
    ...(row.session && { session: row.session.name, sequence: Number(row.sequence) }),
    isExpired: !isVisible(row, now),
  }));
}

type Document = ReturnType<typeof documentsOf>[number];

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
