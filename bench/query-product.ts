/** The product's text analysis: the words arm takes terms, not text. */
import type { analyse } from "../build/lib/retrieval/words/analyse.js";
import type { contentTerms } from "../build/lib/retrieval/words/stop.js";

export async function loadTerms(): Promise<(text: string) => readonly string[]> {
  const part = async (path: string) => (await import(new URL(`../lib/${path}.js`, import.meta.url).href)) as unknown;
  const words = (await part("retrieval/words/analyse")) as { readonly analyse: typeof analyse };
  const stop = (await part("retrieval/words/stop")) as { readonly contentTerms: typeof contentTerms };
  return (text) => stop.contentTerms([...words.analyse(text).keys()]);
}
