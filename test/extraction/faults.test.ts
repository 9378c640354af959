/**
 * A server that fails, stalls, disconnects, or returns nonsense: always an error that says so, never half of the facts.
 */
import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  answeringText,
  type Behaviour,
  breakingOff,
  completing,
  failing,
  failingInHtml,
  flooding,
  noting,
  resetting,
  saying,
  stalling,
  stallingMidway,
} from "../support/chat-server.js";
import { until } from "../support/until.js";
import { API_KEY, asking, extractorOf, message, NEVER, open, type RecordingClock, TEA } from "./product.js";

const SECRET = "Xyzzy";
const REQUEST = asking([message("a", `my cat is ${SECRET}`)]);
const facts = JSON.stringify({ facts: [{ ...TEA, content: SECRET }] });

const FAULTS: readonly (readonly [what: string, behaviour: Behaviour, said: RegExp])[] = [
  ["status 401", failing(401), /status 401 \(some_code\)/],
  ["status 403", failing(403), /status 403/],
  ["status 404", failing(404), /status 404/],
  ["status 429 for a quota that is used up", failing(429, {}, "insufficient_quota"), /insufficient_quota/],
  ["a redirect", failing(307, { location: "http://127.0.0.1:9/v1/chat/completions" }), /status 307/],
  ["a reset connection", resetting, /cannot be reached, or closed the connection/],
  ["an answer that breaks off", breakingOff, /cannot be reached, or closed the connection/],
  ["an answer without end", flooding, /answered with more than \d+ bytes/],
  ["a page of HTML", failingInHtml(200), /not JSON/],
  ["JSON that is cut", saying('{"choices": [{"message": '), /not JSON/],
  ["no choices", saying('{"choices": []}'), /without a message/],
  ["an error in place of an answer", saying(`{"error": {"message": "${SECRET}"}}`), /without a message/],
  ["null", saying("null"), /without a message/],
  ["a choice without a message", completing({ text: facts }), /without a message/],
  ["an empty answer", answeringText(""), /answer is empty/],
  ["an answer of blanks", answeringText(" \n"), /answer is empty/],
  ["an answer that is null", answeringText(null), /answer is empty/],
  [
    "a refusal",
    completing({ finish_reason: "stop", message: { content: null, refusal: SECRET } }),
    /refuses to answer/,
  ],
  ["a filtered answer", completing({ finish_reason: "content_filter", message: { content: facts } }), /refuses/],
  ["a truncated answer", completing({ finish_reason: "length", message: { content: facts.slice(0, -9) } }), /cut off/],
  ["a truncated answer that parses", completing({ finish_reason: "length", message: { content: facts } }), /cut off/],
  ["prose", answeringText(`The user's cat is ${SECRET}.`), /answer is not JSON/],
  ["prose around JSON", answeringText(`Here you are: ${facts}`), /answer is not JSON/],
  ["malformed JSON", answeringText(facts.replace("}]", "]")), /answer is not JSON/],
  ["thoughts without end", answeringText(`<think>${facts}`), /answer is not JSON/],
  ["JSON of another form", answeringText(`{"memories": ["${SECRET}"]}`), /no list of facts/],
  ["facts that are no list", answeringText(`{"facts": {"1": "${SECRET}"}}`), /no list of facts/],
  ["null as JSON", answeringText("null"), /no list of facts/],
];

describe("a chat server", () => {
  it.each(FAULTS)("that returns %s makes the call fail, once, and the next may succeed", async (_, behaviour, said) => {
    const { clock, server, extractor } = await open();
    server.next(behaviour);
    const error: unknown = await extractor.extract(REQUEST, NEVER).catch((error: unknown) => error);
    expect(error).toMatchObject({
      code: "extractor_failed",
      message: expect.stringMatching(said),
      hint: expect.stringMatching(/./),
      retryable: true,
    });
    const everything = inspect(error, { depth: 20, showHidden: true });
    expect(everything).not.toContain(API_KEY);
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toMatch(/embedd(er|ing server)/);
    expect(clock.pending).toBe(0);
    expect(server.requests).toHaveLength(1);
    server.next(noting(TEA));
    expect(await extractor.extract(REQUEST, NEVER)).toHaveLength(1);
  });

  it("that fails on a later page returns nothing of the earlier ones", async () => {
    const { server, extractor } = await open();
    server.next(noting(TEA), answeringText("no"));
    const messages = Array.from({ length: 10 }, (_, index) => message(`id-${index}`, "x".repeat(4_000)));
    await expect(extractor.extract(asking(messages), NEVER)).rejects.toMatchObject({ code: "extractor_failed" });
    expect(server.requests).toHaveLength(2);
  });

  it("is paid for useless answers too, and that is counted", async () => {
    const { server, extractor } = await open();
    server.next(answeringText("no"));
    await expect(extractor.extract(REQUEST, NEVER)).rejects.toThrow();
    expect(extractor.status()).toMatchObject({ requests: 1, inputTokens: 100, outputTokens: 20, drafts: 0 });
  });

  it("that does not exist is an error like others", async () => {
    const { server, extractor } = await open();
    await server.close();
    const call = extractor.extract(REQUEST, NEVER);
    await expect(call).rejects.toMatchObject({ code: "extractor_failed", details: { reason: "ECONNREFUSED" } });
  });

  it("is not awaited beyond the timeout, before its answer and in the middle of it, and not asked again", async () => {
    for (const behaviour of [stalling, stallingMidway]) {
      const { clock, server, extractor } = await open({ timeoutMs: 5_000 });
      server.next(behaviour);
      const call = extractor.extract(REQUEST, NEVER);
      await server.received(1);
      clock.advance(5_000);
      await expect(call).rejects.toMatchObject({
        code: "extractor_failed",
        message: expect.stringContaining("5000 ms"),
      });
      expect(server.requests).toHaveLength(1);
    }
  });

  it("is not awaited beyond the timeout by the system's clock either", async () => {
    const { server } = await open();
    server.next(stalling);
    const extractor = extractorOf({ baseUrl: server.baseUrl, model: "m", timeoutMs: 20 });
    await expect(extractor.extract(REQUEST, NEVER)).rejects.toMatchObject({
      message: expect.stringContaining("20 ms"),
    });
  });
});

describe("a chat server in trouble", () => {
  it.each([
    ["429", failing(429)],
    ["500", failing(500)],
    ["503", failing(503)],
    ["502 with a page of HTML", failingInHtml(502)],
  ])("with %s is asked again after a while", async (_, behaviour) => {
    const { clock, server, extractor } = await open();
    server.next(behaviour, behaviour, noting(TEA));
    const call = extractor.extract(REQUEST, NEVER);
    for (const longestMs of [1_000, 2_000]) {
      const pauseMs = await pauseOf(clock);
      expect(pauseMs).toBeGreaterThanOrEqual(longestMs / 2);
      expect(pauseMs).toBeLessThanOrEqual(longestMs);
      clock.advance(pauseMs);
    }
    expect(await call).toHaveLength(1);
    expect(extractor.status().requests).toBe(3);
    expect(clock.pending).toBe(0);
  });

  it("is asked three times at most", async () => {
    const { clock, server, extractor } = await open();
    server.usually = failing(503);
    const call = extractor.extract(REQUEST, NEVER).catch((error: unknown) => error);
    for (const _ of [1, 2]) clock.advance(await pauseOf(clock));
    expect(await call).toMatchObject({ code: "extractor_failed", details: { status: 503 } });
    expect(server.requests).toHaveLength(3);
  });

  it("gets the delay that it asks for, in seconds or by a date", async () => {
    const { clock, server, extractor } = await open();
    const date = new Date(clock.now() + 7_000 + 9_000).toUTCString();
    server.next(failing(429, { "retry-after": "7" }), failing(503, { "retry-after": date }), noting(TEA));
    const call = extractor.extract(REQUEST, NEVER);
    for (const askedMs of [7_000, 9_000]) {
      expect(await pauseOf(clock)).toBe(askedMs);
      clock.advance(askedMs - 1);
      expect(clock.pending).toBe(1);
      clock.advance(1);
    }
    expect(await call).toHaveLength(1);
  });

  it("that asks for a longer delay than a call has is left to the caller", async () => {
    const { server, extractor } = await open();
    server.next(failing(429, { "retry-after": "60" }));
    await expect(extractor.extract(REQUEST, NEVER)).rejects.toMatchObject({
      code: "extractor_failed",
      details: { status: 429, retryAfterMs: 60_000 },
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe("an aborted extraction", () => {
  const reason = new Error("enough");

  it("requests nothing if it was already aborted", async () => {
    const { server, extractor } = await open();
    await expect(extractor.extract(REQUEST, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["before the answer", stalling],
    ["in the middle of it", stallingMidway],
  ])("ends at once %s, with the reason", async (_, behaviour) => {
    const { clock, server, extractor } = await open();
    const controller = new AbortController();
    server.next(behaviour);
    const call = extractor.extract(REQUEST, controller.signal);
    await server.received(1);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it("ends at once between two attempts, and leaves no timer", async () => {
    const { clock, server, extractor } = await open();
    const controller = new AbortController();
    server.usually = failing(503);
    const call = extractor.extract(REQUEST, controller.signal);
    await pauseOf(clock);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it("that never comes leaves no listener on a long-lived signal", async () => {
    const { server, extractor } = await open();
    const { signal } = new AbortController();
    server.next(noting(TEA), answeringText("no"));
    await extractor.extract(REQUEST, signal);
    await expect(extractor.extract(REQUEST, signal)).rejects.toThrow();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("does not continue with the next page", async () => {
    const { server, extractor } = await open();
    const controller = new AbortController();
    const messages = Array.from({ length: 10 }, (_, index) => ({
      ...message(`id-${index}`, ""),
      get content() {
        // After the first page, while the second is written.
        if (server.requests.length === 1) controller.abort(reason);
        return "x".repeat(4_000);
      },
    }));
    await expect(extractor.extract(asking(messages), controller.signal)).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

/** The extractor's current delay. Every attempt starts two timers: its timeout, and the delay after it. */
async function pauseOf(clock: RecordingClock): Promise<number> {
  await until(() => clock.waits.length % 2 === 0 && clock.pending === 1);
  return clock.waits.at(-1) ?? Number.NaN;
}
