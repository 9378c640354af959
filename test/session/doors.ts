/**
 * The two ways to a memory: in this process, and behind a server on loopback. Both are opened on a file of their own, with
 * the same embedder, extractor and clock, so that the same calls must have the same answers.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiKeys, type Extractor, exportLines, type MemoryHandle, openMemory } from "holdfast";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { FakeClock, HashEmbedder } from "holdfast/testing";

export interface Opened {
  readonly memory: MemoryHandle & { readonly keys: Pick<ApiKeys, "create" | "list" | "revoke"> };
  readonly clock: FakeClock;
  /** Refuses texts with the word poison. */
  readonly embedder: HashEmbedder;
  /** What moves in a user's space, and its export. */
  events(scope: { readonly user: string }, signal: AbortSignal): AsyncIterable<object>;
  lines(scope: { readonly user: string }): AsyncIterable<string>;
  close(): Promise<void>;
}

/** Each message is a fact; one that says "fail" fails. */
const extractor: Extractor = {
  name: "a test's",
  async extract({ messages }) {
    if (messages.some(({ content }) => content.includes("fail"))) throw new Error("told to");
    return messages.map(({ id, content }) => ({ category: "said", content, confidence: 0.5, source: id }));
  },
};

function partsOf() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const clock = new FakeClock();
  const embedder = new HashEmbedder();
  embedder.refuse((text) => text.includes("poison"));
  const options = { path: join(folder, "memory.db"), clock, embedder, extractor };
  return { options, clock, embedder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function local(): Promise<Opened> {
  const { options, clock, embedder, remove } = partsOf();
  const memory = await openMemory(options);
  return {
    memory,
    clock,
    embedder,
    events: (space, signal) => memory.events.stream({ spaces: [space], signal }),
    lines: (space) => exportLines(memory, { spaces: [space] }),
    close: () => memory.close().then(remove),
  };
}

async function remote(): Promise<Opened> {
  const { options, clock, embedder, remove } = partsOf();
  const server = await serve({ ...options, server: { port: 0, logLevel: "silent" } });
  const memory = connect(server.url, { clock });
  return {
    memory,
    clock,
    embedder,
    events: (scope, signal) => memory.events({ scope, signal }),
    lines: (scope) => memory.export({ scope }),
    close: async () => {
      await memory.close();
      await server.stop();
      remove();
    },
  };
}

export const DOORS = [
  ["in this process", local],
  ["behind a server", remote],
] as const;
