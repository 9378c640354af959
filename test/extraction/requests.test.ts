/** Requests to the server, and the handling of valid answers. */
import { describe, expect, it } from "vitest";
import { answeringText, failing, noting, promptIn, refusing } from "../support/chat-server.js";
import { API_KEY, asking, extractorOf, message, NEVER, open, TEA } from "./product.js";

const KNOWN = [
  { id: "fact-coffee", category: "preference", content: "Ann likes coffee" },
  { id: "fact-oslo", category: "place", content: "Ann lives in Oslo" },
];

describe("a request for facts", () => {
  it("asks the model once, for JSON, deterministically, with the key", async () => {
    const { server, extractor } = await open();
    await extractor.extract(asking([message("a", "I like tea")]), NEVER);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      path: "POST /v1/chat/completions",
      headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      body: { model: "some-model", temperature: 0, response_format: { type: "json_object" } },
    });
    // Servers refuse to answer in JSON to a prompt that does not mention it.
    expect(promptIn(server.requests[0]).system).toContain("JSON");
  });

  it("has no key if none is given, and keeps the query of the base URL", async () => {
    const { server } = await open();
    const keyless = extractorOf({ baseUrl: `${server.baseUrl}/?version=2`, model: "m" });
    await keyless.extract(asking([message("a", "I like tea")]), NEVER);
    expect(server.requests[0]).toMatchObject({ path: "POST /v1/chat/completions?version=2" });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("shows messages and known facts under short names, without ids", async () => {
    const { server, extractor } = await open();
    const messages = [
      message("id-1", "I'm Ann", { name: "ann" }),
      message("id-2", "Hello Ann", { role: "assistant", occurredAt: Date.UTC(2026, 2, 2) }),
    ];
    await extractor.extract(asking(messages, KNOWN), NEVER);
    const { user, ...prompt } = promptIn(server.requests[0]);
    expect(prompt).toMatchObject({
      messages: [
        { id: "m1", role: "user", name: "ann", at: "2026-03-01T00:00:00.000Z", text: "I'm Ann" },
        { id: "m2", role: "assistant", at: "2026-03-02T00:00:00.000Z", text: "Hello Ann" },
      ],
      known: [
        { id: "f1", category: "preference", text: "Ann likes coffee" },
        { id: "f2", category: "place", text: "Ann lives in Oslo" },
      ],
    });
    expect(user).not.toMatch(/id-1|fact-oslo/);
  });

  it("is not made without a user's message", async () => {
    const { server, extractor } = await open();
    expect(await extractor.extract(asking([], KNOWN), NEVER)).toEqual([]);
    const others = [message("a", "Done.", { role: "assistant" }), message("b", "200 OK", { role: "tool" })];
    expect(await extractor.extract(asking(others, KNOWN), NEVER)).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it("is made in pages, so that every message is read, and marks where long ones are cut", async () => {
    const { server, extractor } = await open();
    const messages = Array.from({ length: 20 }, (_, index) => message(`id-${index}`, `${index} ${"x".repeat(5_000)}`));
    server.usually = noting(TEA);
    const drafts = await extractor.extract(asking(messages), NEVER);
    const pages = server.requests.map((request) => promptIn(request));
    expect(pages.flatMap((page) => page.messages.map(({ text }) => Number.parseInt(String(text), 10)))).toEqual([
      ...messages.keys(),
    ]);
    expect(pages.length).toBeGreaterThan(2);
    for (const { user, messages } of pages) {
      expect(user.length).toBeLessThan(25_000);
      expect(messages[0]).toMatchObject({ id: "m1", charactersLeftOut: expect.any(Number) });
    }
    // The m1 of each page is another message.
    expect(new Set(drafts.map(({ source }) => source)).size).toBe(pages.length);
    expect(drafts[0]?.source).toBe("id-0");
  });
});

describe("an answer with facts", () => {
  it("becomes drafts with the ids of messages and facts", async () => {
    const { server, extractor } = await open();
    server.next(
      noting({ ...TEA, source: "m2", supersedes: ["f1"] }, { ...TEA, content: "Ann has a cat", supersedes: null }),
    );
    const messages = [message("id-1", "I have a cat"), message("id-2", "No more coffee for me, only tea")];
    expect(await extractor.extract(asking(messages, KNOWN), NEVER)).toEqual([
      {
        category: "preference",
        content: "Ann likes tea",
        confidence: 0.9,
        source: "id-2",
        supersedes: ["fact-coffee"],
      },
      { category: "preference", content: "Ann has a cat", confidence: 0.9, source: "id-1" },
    ]);
  });

  it.each([
    ["in a code fence", (json: string) => `\`\`\`json\n${json}\n\`\`\``],
    ["after thoughts", (json: string) => `<think>{"facts": 1}\n…</think>\n\n${json}`],
    ["after thoughts, in a code fence", (json: string) => `<think></think>\`\`\`\n${json}\n\`\`\`\n`],
    ["among blanks", (json: string) => `\n  ${json}\n`],
  ])("may be %s", async (_, wrap) => {
    const { server, extractor } = await open();
    server.next(answeringText(wrap(JSON.stringify({ facts: [TEA] }))));
    expect(await extractor.extract(asking([message("a", "I like tea")]), NEVER)).toHaveLength(1);
  });

  it("keeps the good drafts among bad ones, and counts both, and the tokens", async () => {
    const { server, extractor } = await open();
    const lies = [
      { ...TEA, content: "Ann is a doctor", source: "m9" },
      { ...TEA, content: "Ann likes rum", source: "m2" },
      { ...TEA, content: "Ann is the administrator", source: "m3" },
      { ...TEA, content: "Ann is rich", source: undefined },
      { ...TEA, content: "Ann is poor", source: "a" },
      { ...TEA, content: "Ann hates coffee", supersedes: ["fact-coffee"] },
      { ...TEA, content: "Ann is tall", supersedes: ["f3"] },
      { ...TEA, content: "Ann likes coffee", supersedes: ["f1"] },
      { ...TEA, content: "Ann is old", confidence: 95 },
      { ...TEA, content: "", confidence: 1 },
      "Ann likes lists",
      { ...TEA, content: "ann  LIKES tea." },
    ];
    server.next(noting(TEA, ...lies));
    const messages = [
      message("a", "I like tea"),
      message("b", "You told me that you like rum", { role: "assistant" }),
      message("c", "Ann is the administrator", { role: "tool" }),
    ];
    const drafts = await extractor.extract(asking(messages, KNOWN), NEVER);
    expect(drafts).toEqual([{ category: "preference", content: "Ann likes tea", confidence: 0.9, source: "a" }]);
    expect(extractor.status()).toEqual({
      requests: 1,
      inputTokens: 100,
      outputTokens: 20,
      drafts: 1,
      refusedDrafts: lies.length,
      lastRefusal: expect.not.stringMatching(/Ann/),
    });
  });

  it("accepts a user's message as source, even if an assistant's was claimed first", async () => {
    const { server, extractor } = await open();
    server.next(noting({ ...TEA, source: "m1" }, { ...TEA, source: "m2" }));
    const messages = [message("a", "You like tea, don't you?", { role: "assistant" }), message("b", "Yes, I do")];
    expect(await extractor.extract(asking(messages), NEVER)).toMatchObject([{ source: "b" }]);
  });
});

describe("a server that does not support the strict form", () => {
  it("is asked without it, and from then on only so", async () => {
    const { server, extractor } = await open();
    server.usually = refusing(400, (body) => "response_format" in body || "temperature" in body);
    await extractor.extract(asking([message("a", "I like tea")]), NEVER);
    await extractor.extract(asking([message("b", "I like rum")]), NEVER);
    expect(server.requests.map(({ body }) => Object.keys(body).sort())).toEqual([
      ["messages", "model", "response_format", "temperature"],
      ["messages", "model"],
      ["messages", "model"],
    ]);
  });

  it("is distinguished from one that refuses every request", async () => {
    const { server, extractor } = await open();
    server.usually = failing(422);
    const call = extractor.extract(asking([message("a", "I like tea")]), NEVER);
    await expect(call).rejects.toMatchObject({ code: "extractor_failed", details: { status: 422 } });
    expect(server.requests).toHaveLength(2);
    server.usually = noting();
    await extractor.extract(asking([message("a", "I like tea")]), NEVER);
    expect(server.requests[2]?.body).toHaveProperty("response_format");
  });
});

describe("an extractor", () => {
  it("is named after its model", async () => {
    const { extractor } = await open();
    expect(extractor.name).toBe("openai-compatible:some-model");
  });

  it.each([
    [{ baseUrl: "http://example.org/v1", apiKey: API_KEY }],
    [{ baseUrl: `https://x:${API_KEY}@example.org/v1` }],
    [{ baseUrl: "example.org" }],
    [{ baseUrl: "https://example.org", apiKey: `${API_KEY}\n` }],
    [{ baseUrl: "https://example.org", model: "" }],
    [{ baseUrl: "https://example.org", timeoutMs: 0 }],
  ])("is refused with wrong options, without repeating a key (%#)", (options) => {
    const make = (): unknown => extractorOf({ model: "m", ...options });
    expect(make).toThrow(expect.objectContaining({ code: "config", hint: expect.any(String) }));
    expect(make).not.toThrow(/secret|embed/);
  });
});
