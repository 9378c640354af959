/** memory_sessions: the sessions of the space. */
import { z } from "zod";
import { parseScope } from "../../../input/scope.js";
import { ReceiptSchema } from "../../../schemas/item.js";
import { Name } from "../../../schemas/scope.js";
import { AnswerBuilder } from "../../answer-builder.js";
import { day, named } from "../../rendering.js";
import { tool } from "../../tool.js";

const PAGE = 100;

const Listed = z.object({ name: z.string(), createdAt: z.number() });

export const sessionsTool = tool({
  name: "memory_sessions",
  title: "List sessions",
  description:
    "List the sessions (conversations) of this memory in order of creation. `next` is the cursor of the next page. Pass a name to memory_list or memory_forget_session.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({ cursor: z.string().exactOptional() }),
  output: z.object({ sessions: z.array(Listed), next: z.string().exactOptional() }),
  async run({ session, memory, maxTokens }, { cursor }) {
    const { space } = parseScope(session.scope);
    const ask = (limit: number) => memory.sessions.list({ space, limit, ...(cursor !== undefined && { cursor }) });
    let page = await ask(PAGE);
    let answer = answerOf(page.items, maxTokens);
    if (answer.shown.length < page.items.length) {
      page = await ask(Math.max(1, answer.shown.length));
      answer = answerOf(page.items, maxTokens);
    }
    const { next } = page;
    const notes = [
      ...(page.items.length === 0 ? ["There are no sessions yet."] : []),
      ...(next === undefined ? [] : [`More: cursor ${JSON.stringify(next)}`]),
    ];
    return { data: { sessions: answer.shown, ...(next !== undefined && { next }) }, text: answer.text(...notes) };
  },
});

function answerOf(entries: readonly z.output<typeof Listed>[], maxTokens: number) {
  const answer = new AnswerBuilder<z.output<typeof Listed>>(maxTokens);
  for (const { name, createdAt } of entries) {
    if (!answer.add(named(name, day(createdAt)).replace(/\n> $/, ""), { name, createdAt })) break;
  }
  return answer;
}

export const forgetSessionTool = tool({
  name: "memory_forget_session",
  title: "Forget a session",
  description:
    "Permanently delete a session with all its memories. Use it only when the user asks for exactly that. It cannot be undone.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({ name: Name }),
  output: ReceiptSchema.pick({ items: true, sessions: true, purged: true }),
  async run({ session, memory }, { name }) {
    const { items, sessions, purged } = await memory.session({ ...session.scope, session: name }).forget();
    const text = sessions === 0 ? "No session has this name." : `Forgotten: the session, ${items} memories.`;
    return { data: { items, sessions, purged }, text };
  },
});
