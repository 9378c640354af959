/** How a question is read: the words it is searched by, what is embedded, and what it says about when and by whom. */

import type { Question } from "../../input/question.js";
import { datesIn } from "../../retrieval/question/dates.js";
import { firstPerson } from "../../retrieval/question/first-person.js";
import { refersBack } from "../../retrieval/question/refers-back.js";
import { namesIn, speakerIn } from "../../retrieval/question/speakers.js";
import { analyse } from "../../retrieval/words/analyse.js";
import { contentTerms } from "../../retrieval/words/stop.js";
import type { Store } from "../../stores/store.js";
import type { WeightedText } from "../meaning.js";

/** What is said about it. It takes longer to read than the words, and is needed only when they were found. */
export interface Said {
  readonly dates: readonly { readonly from: number; readonly to: number }[];
  /** The dates are counted from the time of asking. */
  readonly isRelative: boolean;
  readonly refersBack: boolean;
}

export interface Reading extends Said {
  readonly terms: readonly string[];
  readonly texts: readonly WeightedText[];
}

/** Reads a question that nobody has asked, so that patterns are compiled when the first one comes. */
export function readAhead(): void {
  const question = { text: "What did Ann say about it?" };
  readTerms(question);
  readSaid(question, 0);
  namesIn(question.text);
}

/** The words that are searched for. */
export const readTerms = ({ text }: Pick<Question, "text">): readonly string[] =>
  contentTerms([...analyse(text).keys()]);

/** `askedAt` is the time that dates are counted from. */
export function readSaid({ text }: Pick<Question, "text">, askedAt: number): Said {
  const { ranges, isRelative } = datesIn(text, askedAt);
  return { dates: ranges, isRelative, refersBack: refersBack(text) };
}

/**
 * What is embedded; the question's vector is the weighted mean.
 *
 * A question that names exactly one speaker is put into that speaker's mouth, because messages are embedded with their
 * speaker in front. The same without the speaker's name counts half as much: else what others said about it is not found.
 */
export async function readTexts(store: Store, { text, spaces }: Question): Promise<readonly WeightedText[]> {
  const names = namesIn(text);
  const speaker = names.length === 0 ? undefined : speakerIn(text, await store.speakers(spaces, names));
  if (speaker === undefined) return [{ text, weight: 1 }];
  const said = firstPerson(text, speaker);
  return [
    { text: said, weight: 2 },
    { text: said.slice(speaker.length + 2), weight: 1 },
  ];
}
