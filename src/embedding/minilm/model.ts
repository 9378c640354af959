/**
 * all-MiniLM-L6-v2, used as it was trained: takes word pieces, and returns the mean of all tokens' hidden states as a
 * unit vector. Its tokenizer file asks for truncation and padding to 128 word pieces; here texts are neither truncated
 * nor padded.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { HoldfastError } from "../../errors.js";
import type { ModelChoice, RuntimeName } from "./choice.js";
import { readModelFile, readModelJson } from "./files.js";
import type { NativeGate } from "./native-gate.js";
import { type Network, openNetwork } from "./network.js";

/**
 * The length that the model was trained on, [CLS] and [SEP] included. It accepts up to 512, with decreasing quality.
 */
export const TOKENS_MAX = 256;

export class Model {
  /** Found by running the model once. */
  readonly dimensions: number;
  readonly #network: Network;
  readonly #tokenizer: Tokenizer;

  static async load({ folder, runtime }: ModelChoice, gate: NativeGate): Promise<Model> {
    const [tokens, config, bytes] = await Promise.all([
      readModelJson(folder, "tokenizer.json"),
      readModelJson(folder, "tokenizer_config.json"),
      readModelFile(folder, "onnx/model_quantized.onnx"),
    ]);
    const tokenizer = new Tokenizer(tokens, config);
    const network = await openNetwork(bytes, runtime, gate);
    const { ids } = tokenizer.encode("");
    const state = await network.run(ids);
    return new Model(network, tokenizer, state.length / ids.length);
  }

  private constructor(network: Network, tokenizer: Tokenizer, dimensions: number) {
    this.#network = network;
    this.#tokenizer = tokenizer;
    this.dimensions = dimensions;
  }

  get runtime(): RuntimeName {
    return this.#network.runtime;
  }

  /** The ids of the text's word pieces, special tokens included. */
  tokensOf(text: string): readonly number[] {
    return this.#tokenizer.encode(text.toWellFormed()).ids;
  }

  /** The tokens of all texts; refuses the first text that has too many. */
  acceptedTokensOf(texts: readonly string[]): readonly (readonly number[])[] {
    return texts.map((text, index) => {
      const tokens = this.tokensOf(text);
      if (tokens.length <= TOKENS_MAX) return tokens;
      throw new HoldfastError(
        "text_refused",
        `text ${index} has ${tokens.length} tokens, more than the model accepts`,
        {
          hint: `cut it into pieces of at most ${TOKENS_MAX} tokens, as countTokens counts them`,
          details: { index, tokens: tokens.length, tokensMax: TOKENS_MAX },
        },
      );
    });
  }

  async vectorOf(tokens: readonly number[]): Promise<Float32Array> {
    const state = await this.#network.run(tokens);
    const sum = new Float64Array(this.dimensions);
    for (let token = 0; token < tokens.length; token++) {
      const from = token * this.dimensions;
      for (let at = 0; at < this.dimensions; at++) sum[at] = (sum[at] as number) + (state[from + at] as number);
    }
    // The mean and the sum have the same direction.
    const length = Math.hypot(...sum);
    if (!(length > 0)) throw new Error("the model gave no direction");
    return Float32Array.from(sum, (value) => value / length);
  }

  release(): Promise<void> {
    return this.#network.release();
  }
}
