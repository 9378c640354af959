/**
 * Adds messages until the disk is full and a little longer, then reports what was acknowledged and what was refused.
 */
import { HoldfastError, openMemory } from "holdfast";

const memory = await openMemory({ path: process.argv[2] as string });
const session = memory.session({ user: "ada", session: "s" });
const acknowledged: string[] = [];
const refused: { word: string; code: string }[] = [];
for (let at = 0; at < 400 && refused.length < 5; at++) {
  const word = `word${[...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("")}w`; // no part is a word
  try {
    await session.add([{ role: "user", content: `${word} ${"padding text ".repeat(400)}` }]);
    acknowledged.push(word);
  } catch (error) {
    refused.push({ word, code: error instanceof HoldfastError ? error.code : String(error) });
  }
}
process.stdout.write(JSON.stringify({ acknowledged, refused }), () => process.exit(0));
