/** A HashEmbedder that breaks down on some texts, and on nothing else. */
import { HoldfastError } from "holdfast";
import { HashEmbedder } from "../support/product.js";

type EmbedOptions = Parameters<InstanceType<typeof HashEmbedder>["embed"]>[1];

export class FlawedEmbedder extends HashEmbedder {
  /** The word it cannot bear. */
  failsOn: string | undefined;

  override async embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]> {
    const { failsOn } = this;
    if (failsOn !== undefined && texts.some((text) => text.includes(failsOn))) {
      throw new HoldfastError("embedder_failed", "the embedder broke down on a text", { hint: "try again" });
    }
    return super.embed(texts, options);
  }
}
