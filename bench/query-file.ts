/**
 * Creates a file of embedded messages through the public API, then runs the periodic maintenance once. This is set-up and is
 * not timed.
 */
import { type Memory, openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { ClusteredEmbedder } from "./clustered-embedder.js";
import { Chat, type Shape, userName } from "./query-data.js";

/** Messages per session, added in one call. */
const PER_SESSION = 50;
/** Sessions added concurrently. */
const ABREAST = 16;

export interface MadeFile {
  readonly path: string;
  readonly shape: Shape;
  /** Number of vectors. */
  readonly pieces: number;
}

/** Users take turns, so that the file has their messages interleaved, as in real use. */
export async function makeQueryFile(path: string, shape: Shape, progress: (share: number) => void): Promise<MadeFile> {
  const chat = new Chat(shape, 1);
  const memory = await openMemory({ path, embedder: new ClusteredEmbedder() });
  try {
    const sessions = function* () {
      for (let from = 0; from < chat.perUser; from += PER_SESSION) {
        for (let user = 0; user < shape.users; user++) yield { user, from };
      }
    };
    let added = 0;
    const todo = sessions();
    const add = async (): Promise<void> => {
      for (const { user, from } of todo) {
        const texts = chat.textsOf(user).slice(from, from + PER_SESSION);
        await addSession(memory, user, from, texts);
        added += texts.length;
        progress(added / shape.messages);
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, add));
    const { pending, parked } = await memory.flush();
    const { chunks, embedded } = (await memory.stats()).store;
    if (pending + parked > 0 || embedded !== shape.messages) {
      throw new Error(`${embedded} of ${shape.messages} messages were embedded`);
    }
    await memory.close();
    await keepHouse(path);
    return { path, shape, pieces: chunks };
  } finally {
    await memory.close();
  }
}

async function keepHouse(path: string): Promise<void> {
  const store = await SqliteStore.open({ path, busyTimeoutMs: 5_000 });
  await store.maintain(Date.now());
  await store.close();
}

async function addSession(memory: Memory, user: number, from: number, texts: readonly string[]): Promise<void> {
  const session = memory.session({
    user: userName(user),
    agent: "assistant",
    session: `session-${from / PER_SESSION}`,
  });
  await session.addBatch(
    texts.map((content, at) => [{ role: at % 2 === 0 ? ("user" as const) : ("assistant" as const), content }]),
  );
}
