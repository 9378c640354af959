// A chat in the form of Anthropic's Messages API. The prefix of the context is the cached system prompt; the tail goes
// before the new question. The call itself is left out, so that the example runs offline.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory, renderAnthropic } from "holdfast";

const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const memory = await openMemory({ path: join(folder, "chat.db") });
const session = memory.session({ user: "ada", session: "first" });

await session.blocks.create({ name: "persona", content: "Answer in two sentences at most." });
await session.facts.upsert({ category: "diet", content: "Ada is allergic to nuts.", pinned: true });
// Content can be a text, or a list of parts as the API returns them.
await session.add([
  { role: "user", content: [{ type: "text", text: "Rui and I had lunch at Taberna da Rua das Flores." }] },
  { role: "assistant", content: [{ type: "text", text: "That sounds lovely!" }] },
]);

const question = "Where did I have lunch with Rui?";
// A new session has an empty window; pass the history of an ongoing one between system and tail.
const next = memory.session({ user: "ada", session: "second" });
const context = await next.context({ query: question, budgetTokens: 2000 });
const { system, messages } = renderAnthropic(context);

const request = {
  max_tokens: 1024,
  system, // ends with cache_control: the provider caches it until a block or a pinned fact changes
  messages: [...messages, { role: "user", content: question }],
};
console.log(JSON.stringify(request, undefined, 2));
// const answer = await client.messages.create({ model, ...request });

await memory.close();
await rm(folder, { recursive: true });
