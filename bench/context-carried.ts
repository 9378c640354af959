/**
 * What is carried along while a conversation is replayed, so that the prefix is a real one: a block about each speaker,
 * edited every few turns, and pinned facts, one of which is superseded with every session. They are made of the turns by
 * rule, and repeat none of them, so that they answer no question.
 */
import type { Session } from "holdfast";
import type { RecallTurn } from "./recall-data.js";

/** A speaker's block is written anew after so many turns of the conversation. */
export const TURNS_PER_EDIT = 20;
/** The words that a block says somebody has used lately. */
const WORDS = 40;
const WORD_LETTERS_MIN = 5;

export class Carried {
  readonly #said = new Map<string, string[]>();
  #turns = 0;
  #session: string | undefined;
  #lastDay: string | undefined;
  #changes = 0;

  /** How often something was written that stands in the prefix. */
  get changes(): number {
    return this.#changes;
  }

  /** Before the turn is heard: what is due is written. */
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

/** The longer words of somebody's last turns, newest first, each once. */
function about(name: string, texts: readonly string[]): string {
  const words = texts.toReversed().flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? []);
  const longer = [...new Set(words.filter((word) => word.length >= WORD_LETTERS_MIN))].slice(0, WORDS);
  return [`${name} has spoken ${texts.length} times.`, `Words used lately: ${longer.toSorted().join(", ")}.`].join(
    "\n",
  );
}
