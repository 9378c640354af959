// Your own embedding model in place of the built-in one: an object with five members. This one counts letter triples, which
// needs no model at all; a real one calls yours. `embedderConformance` in holdfast/testing checks the whole contract.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "holdfast";

/** @typedef {import("holdfast/embedding").Embedder} Embedder */

const DIMENSIONS = 256;

/** @implements {Embedder} */
class TripleEmbedder {
  model = "letter-triples";

  /** Says what the vectors are. Vectors of another model or with other dimensions are never mixed with these. */
  async describe() {
    return { space: { model: this.model, runtime: "example", dimensions: DIMENSIONS }, tokensMax: 100_000 };
  }

  /** @param {readonly string[]} texts */
  async countTokens(texts) {
    return texts.map((text) => text.length);
  }

  /** One vector of length 1 for each text. @param {readonly string[]} texts */
  async embed(texts) {
    return texts.map((text) => {
      const vector = new Float32Array(DIMENSIONS);
      const letters = ` ${text.toLowerCase().replaceAll(/[^a-z]+/g, " ")} `;
      for (let at = 0; at + 3 <= letters.length; at++) {
        let hash = 0;
        for (const letter of letters.slice(at, at + 3)) hash = (hash * 31 + letter.charCodeAt(0)) % DIMENSIONS;
        vector[hash] = (vector[hash] ?? 0) + 1;
      }
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    });
  }

  async close() {}
}

const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const memory = await openMemory({ path: join(folder, "agent.db"), embedder: new TripleEmbedder() });
const session = memory.session({ user: "ada", session: "first" });
await session.add([
  { role: "user", content: "We photographed the lighthouses of Cascais." },
  { role: "user", content: "Dinner is at seven." },
]);
// No word is the same, but most letter triples are.
const hits = await session.query("photography lighthouse");
console.log(hits[0]?.content);

await memory.close();
await rm(folder, { recursive: true });
