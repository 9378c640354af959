/**
 * Rephrases a question about a speaker in that speaker's voice: "When did Ann go there?" → "Ann: When did I go there?".
 * What people say about themselves is embedded as "Ann: I went there", and a question of the same form has a nearer
 * vector. Only English is rephrased; in other languages the name is put in front. Pronouns stay: their referent is
 * unknown.
 */
import { languageOf } from "./language.js";
import { placesOf } from "./speakers.js";

/** After these the name is an object. */
const PREPOSITION =
  /(?:^|\s)(?:to|for|with|from|about|of|by|at|on|near|between|without|like|than|behind|beside|towards?|against|around) $/i;
/** After these the name is a subject. */
const BEFORE_SUBJECT =
  /(?:^|\s)(?:did|does|do|is|are|was|were|has|have|had|will|would|can|could|should|might|may|must|when|that|which|what|who|whom|where|why|how|and|or|because|if|while|as|since|after|before) $/i;
/** Ends a clause, so that the name before it is an object: "Who called Ann?", "… give Ann for …". */
const CLAUSE_END =
  /^(?:\s*(?:[?.!,;:)]|$)| (?:to|for|with|from|about|by|at|on|in|during|when|after|before|because|if)\b)/i;

export function firstPerson(text: string, speaker: string): string {
  const places = placesOf(speaker, text);
  if (places.length === 0 || languageOf(text.slice(0, 1_000)) !== "en") return `${speaker}: ${text}`;
  let spoken = "";
  let done = 0;
  for (const { start, end } of places) {
    const before = text.slice(Math.max(0, start - 24), start);
    spoken += text.slice(done, start);
    spoken += /['’]s?$/i.test(text.slice(start, end)) ? "my" : isObject(before, text.slice(end, end + 12)) ? "me" : "I";
    done = end;
  }
  return `${speaker}: ${agreed(spoken + text.slice(done))}`;
}

function isObject(before: string, after: string): boolean {
  if (PREPOSITION.test(before)) return true;
  return /\S $/.test(before) && !BEFORE_SUBJECT.test(before) && CLAUSE_END.test(after);
}

const FORMS: Readonly<Record<string, string>> = { is: "am", does: "do", has: "have", are: "am", "doesn't": "don't" };

/** Inflects the verb beside "I", for the most common verbs. */
function agreed(text: string): string {
  return text
    .replace(/\b(is|does|has)(?= I\b)/gi, (verb) => cased(FORMS[verb.toLowerCase()] ?? verb, verb))
    .replace(/(?<=\bI )(is|does|has|doesn't)\b/g, (verb) => FORMS[verb] ?? verb);
}

function cased(word: string, like: string): string {
  return /^\p{Lu}/u.test(like) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
