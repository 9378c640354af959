// An agent loop: before each answer, context() collects what the model should know; after it, the turn is remembered.
// The "model" here is a function, so that the example runs offline. Replace it with a call of your provider.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory, renderOpenAI } from "holdfast";

/** @typedef {{ role: "system" | "user" | "assistant", content: string }} ChatMessage */

/**
 * Stands in for a chat model.
 * @param {readonly ChatMessage[]} messages
 */
async function model(messages) {
  const knowsPorto = messages.some(({ content }) => content.includes("flight to Porto"));
  return knowsPorto ? "You fly to Porto on Friday." : "I do not know yet.";
}

const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const memory = await openMemory({ path: join(folder, "agent.db") });
// Each conversation is a session; what is remembered belongs to the user and is found from all of them.
const monday = memory.session({ user: "ada", agent: "travel", session: "monday" });
await monday.blocks.create({ name: "persona", content: "Ada is a pilot. She prefers short answers." });

/**
 * One turn: the user says something, the model answers.
 * @param {import("holdfast").Session} session
 * @param {string} text
 */
async function turn(session, text) {
  const context = await session.context({ query: text, budgetTokens: 1500 });
  const answer = await model([...renderOpenAI(context), { role: "user", content: text }]);
  await session.add([
    { role: "user", content: text },
    { role: "assistant", content: answer },
  ]);
  return { answer, tokens: context.tokens };
}

await turn(monday, "My flight to Porto is on Friday.");

// A day later, in another conversation, perhaps in another process:
const tuesday = memory.session({ user: "ada", agent: "travel", session: "tuesday" });
const first = await turn(tuesday, "When do I travel?");
console.log(first.answer);

// The same question again: what the model has seen is not sent twice.
const second = await turn(tuesday, "When do I travel?");
console.log(`saved ${second.tokens.saved > 0 ? "some" : "no"} tokens`);

await memory.close();
await rm(folder, { recursive: true });
