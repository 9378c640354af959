/** The embedder contract, once with upper bounds for tokens and once with OpenAI's own counts. */
import { OpenAiEmbedder } from "holdfast/embedding";
import { embedderConformance } from "holdfast/testing";
import { EmbeddingsServer } from "../support/embeddings-server.js";

for (const { model, countsAreExact } of [
  { model: "some-model", countsAreExact: false },
  { model: "text-embedding-3-small", countsAreExact: true },
]) {
  embedderConformance({
    name: `the embedder for OpenAI-compatible servers with ${model}`,
    countsAreExact,
    queues: false,
    open: async () => {
      const server = await EmbeddingsServer.start();
      const { baseUrl, requests } = server;
      const embedder = new OpenAiEmbedder({
        baseUrl,
        model,
        ...(!countsAreExact && { tokensMax: 2_048 }),
      });
      return {
        embedder,
        isUsed: () => requests.length > 0,
        close: async () => {
          await embedder.close();
          await server.close();
        },
      };
    },
  });
}
