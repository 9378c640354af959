/**
 * Tokens: the count decides what is accepted. Nothing is truncated: a text is accepted whole, or refused with its call.
 */
import { expect } from "vitest";
import type { Embedder } from "../../embedding/embedder.js";
import type { CheckEmbedder } from "../embedder-conformance.js";
import { expectVector } from "./vector.js";

/** A text of `words` words. Embedders for English have one token for each. */
const textOf = (words: number): string => Array.from({ length: words }, () => "river").join(" ");

async function countOf(embedder: Embedder, text: string): Promise<number> {
  const [count = Number.NaN] = await embedder.countTokens([text]);
  return count;
}

/** The largest number of words that fits, by bisection. */
async function wordsThatFit(embedder: Embedder, tokensMax: number): Promise<number> {
  let fits = 0;
  let tooMany = tokensMax + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if ((await countOf(embedder, textOf(middle))) <= tokensMax) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

export function tokens(check: CheckEmbedder, countsAreExact: boolean): void {
  check("accepts a text that has exactly the maximal number of tokens, whole", async ({ embedder }) => {
    const { space, tokensMax } = await embedder.describe();
    const words = await wordsThatFit(embedder, tokensMax);
    expect(words).toBeGreaterThan(1);
    if (countsAreExact) expect(await countOf(embedder, textOf(words))).toBe(tokensMax);
    const [vector, changed] = await embedder.embed([textOf(words), textOf(words).replace(/river$/, "piano")]);
    expectVector(vector, space.dimensions);
    expect(changed, "the last word counts").not.toEqual(vector);
  });

  check("refuses a text with one token more, and says which", async ({ embedder }) => {
    const { tokensMax } = await embedder.describe();
    const tooLong = countsAreExact ? textOf((await wordsThatFit(embedder, tokensMax)) + 1) : textOf(tokensMax + 1);
    expect(await countOf(embedder, tooLong)).toBeGreaterThan(tokensMax);
    for (const [index, list] of [[tooLong], ["one", "two", tooLong], ["one", tooLong, "three", tooLong]].entries()) {
      const refused = embedder.embed(list);
      await expect(refused).rejects.toMatchObject({ code: "text_refused", details: { index: [0, 2, 1][index] } });
    }
    const urgent = embedder.embed(["one", tooLong], { urgent: true });
    await expect(urgent).rejects.toMatchObject({ code: "text_refused", details: { index: 1 } });
    expect(await embedder.embed(["one", "two"]), "the others are fine").toHaveLength(2);
  });

  check("does not quote a refused text in the error", async ({ embedder }) => {
    const { tokensMax } = await embedder.describe();
    const error = await embedder.embed([textOf(tokensMax + 1)]).catch((thrown: unknown) => thrown as Error);
    const said = JSON.stringify({ ...error, message: (error as Error).message });
    expect(said).toContain("text_refused");
    expect(said).not.toContain("river");
  });

  check("counts texts longer than the limit, and keeps the order of long and short ones", async ({ embedder }) => {
    const { tokensMax } = await embedder.describe();
    const [short = 0, long = 0, longer = 0] = await embedder.countTokens([
      "river",
      textOf(tokensMax * 2),
      textOf(tokensMax * 3),
    ]);
    expect(short).toBeLessThanOrEqual(tokensMax);
    expect(long).toBeGreaterThan(tokensMax);
    expect(longer).toBeGreaterThan(long);
  });
}
