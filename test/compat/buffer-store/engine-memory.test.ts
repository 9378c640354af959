/** A memory as the backend of an engine: episode ids are idempotency keys, so what is delivered twice is stored once. */
import type { NewMessage } from "holdfast";
import { type ContextoBackend, DefaultContextEngine, SqliteBufferStore } from "holdfast/buffer-store";
import { expect, it } from "vitest";
import { inFolder } from "../../support/folder.js";
import { open } from "../../support/opened.js";

it("an engine in front of a memory stores each turn once, also when answers are lost, and injects what is found once", () =>
  inFolder(async (folder) => {
    const session = (await open({ path: ":memory:" })).session({ user: "ada", agent: "tutor", session: "monday" });
    let isLost = true;
    const backend: ContextoBackend<NewMessage> = {
      async ingest(episodes) {
        for (const { id, data } of episodes) {
          await session.add(data.messages, { idempotencyKey: id });
        }
        if (isLost) throw new Error("the answer is lost");
      },
      search: (query, maxResults) => session.query(query, { topK: maxResults }),
    };
    const path = `${folder}/buffer.db`;
    let buffer = new SqliteBufferStore(path, { session: "monday" });
    let engine = new DefaultContextEngine({ buffer, backend });
    await engine.afterTurn({ messages: [{ role: "user", content: "I moved to Lisbon in May." }] });
    await engine.afterTurn({ messages: [{ role: "user", content: "My brother plays the violin." }] });
    await expect(engine.compact()).rejects.toMatchObject({ code: "backend_failed" });
    await expect(engine.dispose()).rejects.toMatchObject({ code: "backend_failed" });
    buffer.close();

    isLost = false;
    buffer = new SqliteBufferStore(path, { session: "monday" });
    engine = new DefaultContextEngine({ buffer, backend });
    await engine.compact();
    const { items } = await session.list({ order: "asc" });
    expect(items.map(({ content }) => content)).toEqual(["I moved to Lisbon in May.", "My brother plays the violin."]);

    const window: NewMessage[] = [{ role: "user", content: "Who moved to Lisbon?" }];
    const { messages } = await engine.assemble({ messages: window, prompt: "moved to Lisbon" });
    expect(JSON.stringify(messages)).toContain("- I moved to Lisbon in May.");
    await engine.dispose();
    buffer.close();

    buffer = new SqliteBufferStore(path, { session: "monday" });
    engine = new DefaultContextEngine({ buffer, backend });
    const again = await engine.assemble({ messages: window, prompt: "moved to Lisbon" });
    expect(JSON.stringify(again.messages)).not.toContain("I moved to Lisbon");
    buffer.close();
  }));
