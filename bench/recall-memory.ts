/** A memory with all turns of a data set, indexed. */
import { type Hits, type Memory, openMemory, type QueryOptions } from "holdfast";
import type { ArmMemory } from "./recall-arms.js";
import type { RecallData, RecallQuestion, RecallTurn } from "./recall-data.js";
import { KeptEmbedder } from "./recall-embedder.js";

/** How often a query is repeated while its answer is partial because vectors are being loaded. */
const TRIES = 40;

export interface RecallMemoryOptions {
  readonly path: string;
  /** Where vectors are kept between runs. */
  readonly cache?: string | undefined;
  readonly arm: ArmMemory;
  readonly progress: (done: number, of: number) => void;
}

export class RecallMemory {
  readonly #memory: Memory;
  readonly #embedder: KeptEmbedder | undefined;
  #partial = 0;

  private constructor(memory: Memory, embedder: KeptEmbedder | undefined) {
    this.#memory = memory;
    this.#embedder = embedder;
  }

  static async fill(data: RecallData, { path, cache, arm, progress }: RecallMemoryOptions): Promise<RecallMemory> {
    const embedder = cache === undefined || arm.embeddingModel ? undefined : new KeptEmbedder(cache);
    const model = arm.embeddingModel && { buffer: { hybridBuffer: { embeddingModel: arm.embeddingModel } } };
    const memory = await openMemory({ path, ...(embedder && { embedder }), ...model });
    if (arm.speakers === false) Object.assign(memory.service.store, { speakers: async () => [] });
    let done = 0;
    for (const turns of sessionsOf(data.turns, arm.alone === true)) {
      const [first] = turns;
      if (!first) continue;
      const session = memory.session({ user: first.conversation, session: first.session });
      await session.addBatch(turns.map(({ message }) => [message]));
      await session.flush();
      done += turns.length;
      progress(done, data.turns.length);
    }
    const { pending, parked } = await memory.flush();
    if (!arm.embeddingModel && pending + parked > 0) throw new Error(`${pending + parked} turns could not be embedded`);
    return new RecallMemory(memory, embedder);
  }

  /** The complete answer. */
  async ask({ conversation, text, askedAt }: RecallQuestion, options: QueryOptions): Promise<Hits> {
    const session = this.#memory.session({ user: conversation });
    for (let attempt = 1; ; attempt++) {
      const hits = await session.query(text, { ...options, ...(askedAt !== undefined && { askedAt }) });
      if (!hits.partial) return hits;
      if (attempt === TRIES) {
        this.#partial++;
        return hits;
      }
    }
  }

  /** Number of answers that stayed partial. */
  get partial(): number {
    return this.#partial;
  }

  async close(): Promise<void> {
    await this.#memory.close();
    await this.#embedder?.close();
  }
}

/** The turns of each session, in order. */
function sessionsOf(turns: readonly RecallTurn[], alone: boolean): readonly (readonly RecallTurn[])[] {
  const sessions = new Map<string, RecallTurn[]>();
  for (const turn of turns) {
    const session = alone ? turn.message.id : turn.session;
    const name = JSON.stringify([turn.conversation, session]);
    const others = sessions.get(name);
    if (others) others.push({ ...turn, session });
    else sessions.set(name, [{ ...turn, session }]);
  }
  return [...sessions.values()];
}
