/** The first query of a new process on a file, and the memory of that process. */
import { openMemory } from "holdfast";
import { ClusteredEmbedder } from "./clustered-embedder.js";
import { Chat, userName } from "./query-data.js";
import type { MadeFile } from "./query-file.js";

export interface FirstReport {
  readonly openMs: number;
  readonly firstMs: number;
  /** Whether that answer was marked partial. */
  readonly partial: boolean;
  /** From that query until an answer was complete. */
  readonly completeMs: number;
  /** Resident bytes: with the texts in memory, when open, and after some hundred queries. */
  readonly rss: { readonly before: number; readonly open: number; readonly asked: number };
}

const QUESTIONS = 200;
const ASKING_MS = 2_000;
const COMPLETE_MS_MAX = 20_000;

/** The file's pages are in the system's cache, because it was just written. */
export async function measureFirst({ path, shape }: MadeFile, seed: number): Promise<FirstReport> {
  const chat = new Chat(shape, seed);
  const embedder = new ClusteredEmbedder();
  embedder.vectorOf("ready");
  const before = process.memoryUsage.rss();
  const started = performance.now();
  const memory = await openMemory({ path, embedder });
  const openMs = performance.now() - started;
  const open = process.memoryUsage.rss();
  const ask = ({ user, text } = chat.question()) => memory.session({ user: userName(user) }).query(text, { topK: 10 });

  const asked = performance.now();
  const first = chat.question();
  const { partial } = await ask(first);
  const firstMs = performance.now() - asked;
  while ((await ask(chat.question(first.user))).partial && performance.now() - asked < COMPLETE_MS_MAX);
  const completeMs = partial ? performance.now() - asked : firstMs;

  const until = performance.now() + ASKING_MS;
  for (let at = 0; at < QUESTIONS && performance.now() < until; at++) await ask();
  const rss = { before, open, asked: process.memoryUsage.rss() };
  await memory.close();
  return { openMs, firstMs, partial, completeMs, rss };
}
