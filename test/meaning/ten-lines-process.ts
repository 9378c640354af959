/**
 * The ten lines of the README in their own process: adds if requested, asks, and reports the first hit of a complete
 * answer.
 */
import { openMemory } from "holdfast";
import { report } from "../support/child.js";

const [path = "", add, ...questions] = process.argv.slice(2);
const memory = await openMemory({ path, buffer: { hybridBuffer: { embeddingModel: "all-MiniLM-L6-v2" } } });
const session = memory.session({ user: "ada", agent: "tutor", session: "2026-11-15" });
if (add === "add") {
  await session.add([
    { role: "user", content: "My brother plays the violin in an orchestra." },
    { role: "assistant", content: "That sounds wonderful, tell me more." },
    { role: "user", content: "I moved to Lisbon in May." },
    { role: "user", content: "For breakfast I had two eggs and some toast." },
    { role: "user", content: "The invoice over 300 euros is still not paid." },
  ]);
}
for (const question of questions) {
  let hits = await session.query(question, { topK: 5 });
  while (hits.partial) hits = await session.query(question, { topK: 5 }); // a slow machine embeds late, and says so
  report({ question, first: hits[0]?.content, partial: hits.partial, degraded: hits.degraded });
}
await memory.close();
