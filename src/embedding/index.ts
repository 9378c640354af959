/** The embedders, and the contract for implementing another (`holdfast/testing` has its conformance suite). */
export type { Embedder, EmbedderDescription, EmbedOptions } from "./embedder.js";
export type { MiniLmDescription } from "./minilm/choice.js";
export { MiniLmEmbedder, type MiniLmOptions } from "./minilm/minilm.js";
export { OpenAiEmbedder, type OpenAiOptions } from "./openai/embedder.js";
