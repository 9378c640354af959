/**
 * Blocks and facts during a replay, so that the prefix is realistic: a block about each speaker, edited every few turns, and
 * pinned facts, one of which is superseded in each session. They are derived from the turns by rule and do not repeat them, so
 * they answer no question.
 */
import type { Session } from "holdfast";
import type { RecallTurn } from "./recall-data.js";

/** A speaker's block is rewritten after this many turns. */
export const TURNS_PER_EDIT = 20;
/** Number of recently used words that a block lists. */
const WORDS = 40;
const WORD_LETTERS_MIN = 5;

export class Carried {
  readonly #said = new Map<string, string[]>();
  #turns = 0;
  #session: string | undefined;
  #lastDay: string | undefined;
  #changes = 0;

  /** Number of writes to the prefix. */
  get changes(): number {
    return this.#changes;
  }

  /** Writes what is due before a turn. */
  async before(session: Session, turn: RecallTurn): Promise<void> {
    const speaker = speakerOf(turn);
    if (turn.session !== this.#session) await this.#sessionBegins(session, turn);
    if (!this.#said.has(speaker)) {
      this.#said.set(speaker, []);
      await session.blocks.create({
        name: speaker,
        description: "what we know of them",
        content: aboutNobody(speaker),
      });
      await session.facts.upsert({
        category: "people",
        content: `${speaker} takes part in this conversation.`,
        pinned: true,
      });
      this.#changes += 2;
    }
    if (this.#turns > 0 && this.#turns % TURNS_PER_EDIT === 0) {
      for (const [name, texts] of this.#said) {
        const content = about(name, texts);
        if ((await session.blocks.get(name))?.content === content) continue;
        await session.blocks.edit(name, { content, reason: "replayed" });
        this.#changes++;
      }
    }
    this.#said.get(speaker)?.push(turn.message.content);
    this.#turns++;
  }

  async #sessionBegins(session: Session, { session: name, message }: RecallTurn): Promise<void> {
    this.#session = name;
    const day = String(message.occurredAt ?? "").slice(0, 10);
    if (day === "" || day === this.#lastDay) return;
    this.#lastDay = day;
    const held = await session.facts.list({ category: "calendar", pinned: true });
    await session.facts.upsert({
      category: "calendar",
      content: `The last conversation took place on ${day}.`,
      supersedes: held.items.map(({ id }) => id),
      pinned: true,
    });
    this.#changes++;
  }
}

export const speakerOf = ({ message: { name, role } }: RecallTurn): string => name ?? role;

const aboutNobody = (name: string): string => `${name}: nothing is known yet.`;

/** The longer words of a speaker's last turns, newest first, without duplicates. */
function about(name: string, texts: readonly string[]): string {
  const words = texts.toReversed().flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? []);
  const longer = [...new Set(words.filter((word) => word.length >= WORD_LETTERS_MIN))].slice(0, WORDS);
  return [`${name} has spoken ${texts.length} times.`, `Words used lately: ${longer.toSorted().join(", ")}.`].join(
    "\n",
  );
}
