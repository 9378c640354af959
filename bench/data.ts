/** The messages to write: read from a file, or generated from a seed, so that runs are repeatable. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { NewMessage } from "holdfast";

/** The agent of all conversations. */
export const AGENT = "assistant";

/** A message with the conversation it belongs to. A conversation is one user with one session. */
export interface Line {
  readonly conversation: string;
  readonly message: NewMessage;
}

/** Endless lines: starts over after the last one. */
export class Data {
  readonly source: string;
  readonly #lines: readonly Line[];

  constructor(source: string, lines: readonly Line[]) {
    if (lines.length === 0) throw new Error(`${source} has no messages`);
    this.source = source;
    this.#lines = lines;
  }

  take(from: number, count: number): Line[] {
    return Array.from({ length: count }, (_, at) => this.#lines[(from + at) % this.#lines.length] as Line);
  }
}

/** `path` is a file with one JSON object per line, or a folder with such a file; without it, messages are generated. */
export function loadData(path: string | undefined): Data {
  if (path === undefined) return new Data("generated (seed 1)", generate(20_000, 1));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "messages.jsonl") : path;
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return new Data(file, lines.map(parseLine));
}

interface FileLine {
  readonly conversation_id: string;
  readonly speaker: string;
  readonly text: string;
  readonly timestamp: string | null;
}

function parseLine(line: string): Line {
  const { conversation_id, speaker, text, timestamp } = JSON.parse(line) as FileLine;
  const role = /^(assistant|system)$/i.test(speaker) ? "assistant" : "user";
  const at = timestamp === null ? {} : { occurredAt: `${timestamp}Z` };
  return { conversation: conversation_id, message: { role, name: speaker, content: text, ...at } };
}

const SYLLABLES = "ka lo mi ter an ver so pel du ran ti gos we na bri kol es ma fin der ju pla o chi sta ne".split(" ");
const VOCABULARY = 8_000;
const MEMBERS = 400;

/** Chat-like messages of 1 to 40 words, with a few very common words and many rare ones. */
function generate(count: number, seed: number): Line[] {
  const random = randomFrom(seed);
  const pick = (limit: number): number => Math.floor(random() * limit);
  const words = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 1 + pick(3) }, () => SYLLABLES[pick(SYLLABLES.length)]).join(""),
  );
  const lines: Line[] = [];
  while (lines.length < count) {
    const conversation = `conversation-${lines.length}`;
    const members = [pick(MEMBERS), pick(MEMBERS)];
    for (let left = 10 + pick(60); left > 0; left--) {
      const length = 1 + Math.floor(random() ** 2 * 40);
      // Zipf's law: the logarithm of a word's rank is uniformly distributed.
      const content = Array.from({ length }, () => words[Math.floor(VOCABULARY ** random()) - 1]).join(" ");
      const name = `member-${members[left % 2]}`;
      lines.push({ conversation, message: { role: left % 2 === 0 ? "user" : "assistant", name, content } });
    }
  }
  return lines.slice(0, count);
}

/** Mulberry32: numbers in [0, 1), determined by the seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
