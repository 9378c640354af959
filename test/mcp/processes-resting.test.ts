/**
 * `holdfast mcp` embeds nothing until it is asked, or until so many items are pending that a question would have to
 * wait for them. The embedder is a server of the test, so that every embedding is seen.
 */
import { afterEach, expect, it } from "vitest";
import { EmbeddingsServer } from "../support/embeddings-server.js";
import { newPath } from "../support/opened.js";
import { until } from "../support/until.js";
import { Agent } from "./processes-clients.js";

/** As many rounds as wait for a question. */
const ROUNDS = 20;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(env: { readonly [name: string]: string } = {}) {
  const embedder = await EmbeddingsServer.start();
  const agent = await Agent.overStdio(["--path", newPath(), "--user", "ada"], {
    HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL: "a-model",
    HOLDFAST_EMBEDDING_BASE_URL: embedder.baseUrl,
    ...env,
  });
  open.push(agent, embedder);
  const embedded = (): readonly string[] => embedder.requests.flatMap(({ body }) => body.input);
  const save = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await agent.save(`Boat number ${at} has left the harbour.`);
  };
  return { agent, embedded, save };
}

it("a save does not start the embedder, a question does, and it embeds pending items", async () => {
  const { agent, embedded, save } = await start();
  await save(ROUNDS - 1);
  expect((await agent.call("memory_status")).data).toMatchObject({ waiting: ROUNDS - 1 });
  await agent.block({ command: "create", name: "notes", content: "Boats leave." });
  await agent.resources();
  expect(embedded()).toEqual([]);
  const { data } = await agent.call("memory_search", { query: "Which boats have left?" });
  expect((data["hits"] as readonly unknown[]).length).toBe(10);
  expect(embedded()).toContain("Which boats have left?");
  expect(embedded()).toEqual(expect.arrayContaining([expect.stringContaining("Boat number 18")]));
});

it(`${ROUNDS} rounds that wait are embedded without a question`, async () => {
  const { embedded, save } = await start();
  await save(ROUNDS);
  await until(() => embedded().some((text) => text.includes(`Boat number ${ROUNDS - 1}`)));
});

it("configured buffers embed as configured", async () => {
  const [eager, early] = await Promise.all([
    start({ HOLDFAST_BUFFER_ROUND_BUFFER_EAGER: "true" }),
    start({ HOLDFAST_BUFFER_ROUND_BUFFER_MAX_SIZE: "3" }),
  ]);
  await eager.save(1);
  await until(() => eager.embedded().some((text) => text.includes("Boat number 0")));
  await early.save(2);
  expect(early.embedded()).toEqual([]);
  await early.save(1);
  await until(() => early.embedded().some((text) => text.includes("Boat number 0")));
});
