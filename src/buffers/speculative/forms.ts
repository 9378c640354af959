/**
 * Forms: the options with which a session asks, which are part of a guess. A next line usually goes into a context and a
 * follow-up into a plain query, so they are kept per predictor: the options with which the text that it guessed was
 * asked last. One text may be asked in several forms: `context` asks for items and for facts.
 */
import type { QueryOptions } from "../../input/query.js";
import type { ParsedScope } from "../../input/scope.js";
import type { PredictorName } from "../../options.js";
import { spaceKey } from "../../space-key.js";

const FORMS_MAX = 3;

/** The forms by predictor; under `any`, those of the newest text, whichever predictor guessed it. */
export type Forms = { readonly [expected in PredictorName | "any"]?: readonly QueryOptions[] };

/** Adds the form of a question. If its text is new, it replaces the forms of the text before. The page is not part of a form. */
export function withForm(
  forms: Forms,
  expected: keyof Forms,
  { offset: _page, ...form }: QueryOptions,
  isNewText: boolean,
): Forms {
  const others = isNewText ? [] : (forms[expected] ?? []).filter((other) => !isEqual(other, form));
  return { ...forms, [expected]: [form, ...others].slice(0, FORMS_MAX) };
}

/**
 * The forms in which a predictor's guess is expected, from the first source that has any. If no announced text has been asked
 * yet, announcements are also expected as plain queries.
 */
export function formsOf(predictor: PredictorName, ...sources: readonly Forms[]): readonly QueryOptions[] {
  const known = (name: keyof Forms) => sources.map((forms) => forms[name]).find((forms) => forms?.length);
  const own = known(predictor);
  if (own) return own;
  const any = known("any") ?? [];
  return predictor !== "anticipate" || any.some((form) => isEqual(form, PLAIN)) ? any : [...any, PLAIN];
}

const PLAIN: QueryOptions = {};

/** Options that name what may belong to one space. */
const OWN = ["session", "agent", "metadata"] as const;

/** The forms for sessions of other spaces, without those that name what is not theirs. */
export function elsewhere(forms: Forms, { space }: ParsedScope): Forms {
  const moved = Object.entries(forms).map(([expected, all]) => [
    expected,
    all.flatMap((form): readonly QueryOptions[] => {
      const { spaces, ...rest } = form;
      if (OWN.some((name) => name in rest)) return [];
      if (spaces === undefined) return [form];
      return spaces.length === 1 && spaces.every((one) => spaceKey(one) === spaceKey(space)) ? [rest] : [];
    }),
  ]);
  return Object.fromEntries(moved);
}

const isEqual = (a: QueryOptions, b: QueryOptions): boolean => JSON.stringify(a) === JSON.stringify(b);
