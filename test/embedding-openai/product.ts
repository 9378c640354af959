/** The embedder as it ships, with its own server. Both are ended after the test. */
import { OpenAiEmbedder, type OpenAiOptions } from "holdfast/embedding";
import { FakeClock } from "holdfast/testing";
import { onTestFinished } from "vitest";
import { EmbeddingsServer } from "../support/embeddings-server.js";

export const API_KEY = "sk-secret-0123456789";

export interface Opened {
  readonly clock: FakeClock;
  readonly server: EmbeddingsServer;
  readonly embedder: OpenAiEmbedder;
}

export async function open(options: Partial<OpenAiOptions> = {}): Promise<Opened> {
  const clock = new FakeClock();
  const server = await EmbeddingsServer.start();
  const { baseUrl } = server;
  const embedder = new OpenAiEmbedder({ baseUrl, model: "some-model", apiKey: API_KEY, clock, ...options });
  onTestFinished(async () => {
    await embedder.close();
    await server.close();
  });
  return { clock, server, embedder };
}
