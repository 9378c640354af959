/** A process that re-embeds a file, reports every call of the model, and hangs in one of them until it is killed. */
import { openMemory } from "holdfast";
import { report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";

const [, , path = "", model = "", hangAt = ""] = process.argv;

/** What the parent is told: how many texts were given to the model, and how many items are written. */
export type Told = { readonly texts: number } | { readonly embedded: number } | { readonly hangs: true };

class HangingEmbedder extends HashEmbedder {
  #call = 0;

  override async embed(...[texts, options]: Parameters<HashEmbedder["embed"]>): ReturnType<HashEmbedder["embed"]> {
    this.#call++;
    if (this.#call === Number(hangAt)) {
      report({ hangs: true } satisfies Told);
      await new Promise(() => undefined);
    }
    report({ texts: texts.length } satisfies Told);
    return super.embed(texts, options);
  }
}

const memory = await openMemory({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
const keepAlive = setInterval(() => undefined, 60_000);
await memory.reindex({
  embedder: new HangingEmbedder({ model }),
  onProgress: ({ embedded }) => report({ embedded } satisfies Told),
});
clearInterval(keepAlive);
await memory.close();
