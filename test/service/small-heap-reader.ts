/**
 * Asks for more text than its heap can hold, with a cache that would keep all of it, and adds a message between
 * questions. Reports what it added, and the memory at the end.
 */
import { openMemory } from "holdfast";

const QUESTIONS = 200;
const TEXTS = 60;
const TEXT_CHARACTERS = 20_000;

const path = process.argv[2] as string;
const query = { cacheSize: 10_000, maxBytes: 4095 * 1024 * 1024 };
const memory = await openMemory({ path, buffer: { query, hybridBuffer: { embeddingModel: "none" } } });
const session = memory.session({ user: "ada", session: "s" });
for (let at = 0; at < TEXTS; at++) {
  await session.add([{ role: "user", content: `text ${"padding ".repeat(TEXT_CHARACTERS / 8)} ${at}` }]);
}
const texts = memory.session({ user: "bob", session: "s" });
let added = 0;
let short = 0;
for (let at = 0; at < QUESTIONS; at++) {
  const hits = await session.query(`text ${at}`, { topK: TEXTS });
  if (hits.length !== TEXTS) throw new Error(`question ${at} has ${hits.length} hits`);
  await texts.add([{ role: "user", content: `note ${at}` }]);
  added++;
  if ((await memory.stats()).process.isShort) short++;
}
const { process: used, query: asked } = await memory.stats();
await memory.close();
process.stdout.write(JSON.stringify({ added, short, shortages: used.shortages, cacheBytes: asked.bytes }));
