/**
 * Holdfast and the baselines on one file, in turns: in every round each of them answers the same questions, for a few hundred
 * milliseconds at most, so that other load on the machine affects all of them. Each turn starts with an uncounted call, which
 * pays for what the others have evicted from the processor's caches. The first rounds warm up and are not counted; with
 * several users, every user is queried once before, and that is reported separately.
 *
 * Questions are new in every round, so nothing is cached; only `cached` repeats what `cold` has just asked.
 */
import { openMemory, type SpaceRef } from "holdfast";
import { MiniLmEmbedder } from "holdfast/embedding";
import { SqliteStore } from "holdfast/stores";
import { searchVectors, searchWords } from "holdfast/testing";
import { ClusteredEmbedder, DIMENSIONS } from "./clustered-embedder.js";
import { loadProduct } from "./product.js";
import { Bandwidth } from "./query-bandwidth.js";
import { BruteForce } from "./query-brute-force.js";
import { Chat, type Question, userName } from "./query-data.js";
import type { MadeFile } from "./query-file.js";
import { PlainFts5 } from "./query-fts5.js";
import { loadTerms } from "./query-product.js";
import { SqliteVec } from "./query-sqlite-vec.js";
import { readVectors } from "./query-vectors.js";
import { type Latency, latency } from "./timings.js";

export const SIDES = [
  "cached",
  "cold",
  "coldEmbedding",
  "embedding",
  "words",
  "vectors",
  "fts5",
  "brute",
  "vecMetadata",
  "vecPartition",
  "bandwidth",
] as const;
export type SideName = (typeof SIDES)[number];

export interface SideReport extends Latency {
  readonly side: SideName;
  readonly calls: number;
}

export interface SidesReport {
  readonly sides: readonly SideReport[];
  /** The first query of each user in this process, with several users only. */
  readonly firstOfUser?: Latency;
  /** Number of cold answers marked partial. */
  readonly partial: number;
}

const TOP = 10;
/** Equal to the number of candidates that a query takes from each arm. */
const CANDIDATES = 128;
const QUESTIONS = 40;
/** After some hundred queries most of the code is compiled; a running server has answered more. */
const WARM_UP_ROUNDS = 10;
const ROUND_MS = 300;
const CALLS_MIN = 3;
const USERS_MET_MAX = 200;

type Side = (question: Question) => unknown;

export async function measureSides(
  { path, shape, pieces }: MadeFile,
  rounds: number,
  newPath: (name: string) => string,
  say: (section: string) => void,
): Promise<SidesReport> {
  say("making the rivals' files");
  const chat = new Chat(shape, 2);
  const embedder = new ClusteredEmbedder();
  const product = await loadProduct();
  const termsOf = await loadTerms();
  const vectors = readVectors(product, path, pieces);
  const brute = new BruteForce(vectors);
  const fts5 = new PlainFts5(newPath("fts5"), chat);
  const vecMetadata = new SqliteVec(newPath("metadata"), "metadata", vectors, chat.perUser);
  const vecPartition = new SqliteVec(newPath("partition"), "partition", vectors, chat.perUser);
  const bandwidth = shape.users === 1 ? new Bandwidth(pieces * DIMENSIONS) : undefined;

  const miniLm = new MiniLmEmbedder();
  await miniLm.embed(["ready"]);
  const memory = await openMemory({ path, embedder });
  const memoryAsking = await openMemory({ path, embedder: new ClusteredEmbedder(miniLm) });
  const store = await SqliteStore.open({ path, busyTimeoutMs: 5_000 });
  const { space: vectorSpace } = await embedder.describe();
  const spaceOf = (user: number): SpaceRef => ({ user: userName(user) });
  const nearest = ({ user, text }: Question, limit: number) => {
    const vector = embedder.vectorOf(text);
    return searchVectors(store, { spaces: [spaceOf(user)], vectorSpace, vector, filter: {}, limit, now: Date.now() });
  };
  const ask = ({ user, text }: Question, asked = memory) =>
    asked.session({ user: userName(user) }).query(text, { topK: TOP });

  let partial = 0;
  const sides: { readonly [side in SideName]?: Side } = {
    cold: async (question) => {
      if ((await ask(question)).partial) partial++;
    },
    cached: (question) => ask(question),
    coldEmbedding: (question) => ask(question, memoryAsking),
    ...(shape.users === 1 && { embedding: ({ text }: Question) => miniLm.embed([text], { urgent: true }) }),
    words: ({ user, text }) =>
      searchWords(store, {
        spaces: [spaceOf(user)],
        terms: termsOf(text),
        filter: {},
        limit: CANDIDATES,
        now: Date.now(),
      }),
    fts5: ({ user, words }) => fts5.search(user, words, TOP),
    vectors: (question) => nearest(question, TOP),
    brute: ({ user, text }) => brute.search(user, embedder.vectorOf(text), TOP),
    vecMetadata: ({ user, text }) => vecMetadata.search(user, embedder.vectorOf(text), TOP),
    vecPartition: ({ user, text }) => vecPartition.search(user, embedder.vectorOf(text), TOP),
    ...(bandwidth && { bandwidth: () => bandwidth.read() }),
  };

  try {
    const firstOfUser = shape.users > 1 ? await meetUsers(chat, ask) : undefined;
    const arms = async (question: Question) => [await sides.words?.(question), await nearest(question, TOP)];
    if (shape.users > 1) await meetUsers(chat, arms); // the arms use their own store
    await compare(chat.question(), nearest, brute, embedder);
    const calls = new Map<SideName, number[]>();
    for (let round = 1 - WARM_UP_ROUNDS; round <= rounds; round++) {
      say(round <= 0 ? `warming up, ${round + WARM_UP_ROUNDS} of ${WARM_UP_ROUNDS}` : `round ${round} of ${rounds}`);
      const [first, ...questions] = Array.from({ length: QUESTIONS + 1 }, () => chat.question());
      let asked = questions.length;
      for (const [side, run] of Object.entries(sides) as [SideName, Side][]) {
        await run(first as Question);
        if (side === "cold" && round <= 1) partial = 0;
        const times = await timed(side === "cached" ? questions.slice(0, asked) : questions, run);
        if (side === "cold") asked = times.length;
        if (round > 0) calls.set(side, [...(calls.get(side) ?? []), ...times]);
      }
    }
    const reports = SIDES.flatMap((side) => {
      const times = calls.get(side);
      return times ? [{ side, calls: times.length, ...latency(times) }] : [];
    });
    return { sides: reports, ...(firstOfUser && { firstOfUser }), partial };
  } finally {
    await memory.close();
    await memoryAsking.close();
    await store.close();
    await miniLm.close();
    for (const rival of [fts5, vecMetadata, vecPartition]) rival.close();
  }
}

/** Milliseconds of each call, until there are no more questions or the time is up. */
async function timed(questions: readonly Question[], run: Side): Promise<number[]> {
  const times: number[] = [];
  const begun = performance.now();
  for (const question of questions) {
    if (times.length >= CALLS_MIN && performance.now() - begun > ROUND_MS) break;
    const started = performance.now();
    await run(question);
    times.push(performance.now() - started);
  }
  return times;
}

async function meetUsers(chat: Chat, ask: Side): Promise<Latency> {
  const { users } = chat.shape;
  const met = Math.min(users, USERS_MET_MAX);
  const questions = Array.from({ length: met }, (_, at) => chat.question(Math.floor((at * users) / met)));
  const times: number[] = [];
  for (const question of questions) {
    const started = performance.now();
    await ask(question);
    times.push(performance.now() - started);
  }
  return latency(times);
}

/** Checks that both sides do the same work: the nearest item is the same, at the same distance. */
async function compare(
  question: Question,
  search: (question: Question, limit: number) => Promise<readonly { readonly key: number; readonly score: number }[]>,
  brute: BruteForce,
  embedder: ClusteredEmbedder,
): Promise<void> {
  const [ours] = await search(question, TOP);
  const [theirs] = brute.search(question.user, embedder.vectorOf(question.text), TOP);
  if (ours && theirs && ours.key === theirs.item && Math.abs(ours.score - theirs.score) < 1e-3) return;
  throw new Error(
    `the nearest item is ${theirs?.item} (${theirs?.score}), but ${ours?.key} (${ours?.score}) was found`,
  );
}
