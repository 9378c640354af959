/**
 * Maps models to encodings, by family: a new version or a dated name of a known family needs no change here. An unknown
 * model is refused, because a wrong count cannot be told from a right one.
 */
import { HoldfastError } from "../errors.js";

export type EncodingName = "o200k_base" | "cl100k_base";

const FAMILIES: readonly (readonly [family: RegExp, encoding: EncodingName])[] = [
  [/^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o1|o3|o4)([-.]|$)/, "o200k_base"],
  [/^(gpt-4|gpt-3\.5)(-|$)/, "cl100k_base"],
  // Not every text-embedding-…: other vendors and local servers use the prefix for models with other vocabularies.
  [/^text-embedding-(ada-002|3-.)/, "cl100k_base"],
];

const KNOWN =
  "gpt-4o, gpt-4.1, gpt-4.5, gpt-5, o1, o3, o4, gpt-4, gpt-3.5, text-embedding-3 and text-embedding-ada-002";

export function isKnownTokenModel(model: string): boolean {
  return findEncoding(model) !== undefined;
}

export function encodingOf(model: string): EncodingName {
  const encoding = findEncoding(model);
  if (encoding) return encoding;
  throw new HoldfastError("config", `the tokenizer of the model ${JSON.stringify(model)} is unknown`, {
    hint: `name a model of one of these families: ${KNOWN}`,
    details: { model },
  });
}

function findEncoding(model: string): EncodingName | undefined {
  return FAMILIES.find(([family]) => family.test(model))?.[1];
}
