/** Events, exports and imports over connections that break. */
import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import type { ConnectOptions } from "./endpoint.js";
import { connect } from "./remote-memory.js";

const EVENTS = "text/event-stream";
const NDJSON = "application/x-ndjson";

interface Sent {
  readonly path: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

type Step = (init: RequestInit) => Response | Promise<Response>;

/** A stream of these pieces, which then ends, breaks, or stalls until the request is aborted. */
const stream =
  (type: string, pieces: readonly string[], then: "end" | "break" | "hang"): Step =>
  ({ signal }) => {
    const encoder = new TextEncoder();
    const rest = [...pieces];
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => signal?.addEventListener("abort", () => controller.error(signal.reason)),
      pull: (controller) => {
        const piece = rest.shift();
        if (piece !== undefined) controller.enqueue(encoder.encode(piece));
        else if (then === "end") controller.close();
        else if (then === "break") controller.error(new TypeError("terminated"));
        else return new Promise(() => undefined);
        return undefined;
      },
    });
    return new Response(body, { headers: { "content-type": `${type}; charset=utf-8` } });
  };
const refused =
  (status: number, code: string): Step =>
  () =>
    Response.json(
      { status: "error", code: status, data: null, message: "no", errors: null, error: { code, retryable: false } },
      { status },
    );
const cut: Step = () => Promise.reject(new TypeError("fetch failed"));

function server(steps: readonly Step[], options: ConnectOptions = {}) {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const rest = [...steps];
  const memory = connect("http://127.0.0.1:8000", {
    clock,
    ...options,
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url);
      sent.push({ path: pathname + search, headers: new Headers(init.headers), init });
      const step = rest.shift();
      if (!step) throw new Error("asked too often");
      return step(init);
    },
  });
  return { memory, clock, sent };
}

/** Advances the clock until the work is done. */
async function passing<T>(clock: FakeClock, work: Promise<T>, stepMs = 1_000): Promise<T> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  while (!isOver) {
    for (let turn = 0; turn < 20 && !isOver; turn++) await new Promise(setImmediate);
    if (!isOver) clock.advance(stepMs);
  }
  return work;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const event = (id: string) => `id: ${id}\ndata: {"type":"added","ids":["${id}"]}\n\n`;

describe("events", () => {
  it("are delivered as they arrive; a broken connection is resumed after the last event, and the reconnection is reported", async () => {
    const { memory, clock, sent } = server([
      stream(EVENTS, ["retry: 3000\n\n", event("1").slice(0, 9), event("1").slice(9) + event("2")], "break"),
      cut,
      refused(503, "overloaded"),
      stream(EVENTS, [event("3"), "data: half"], "end"),
      stream(EVENTS, [": alive\n\n"], "hang"),
    ]);
    const ending = new AbortController();
    const told: string[] = [];
    const reading = (async () => {
      for await (const one of memory.events({ scope: { user: "a&b" }, signal: ending.signal })) {
        told.push("ids" in one ? String(one.ids[0]) : one.type);
        if (told.length === 5) ending.abort();
      }
    })();
    await passing(clock, reading);
    expect(told).toEqual(["1", "2", "reconnected", "3", "reconnected"]);
    expect(sent.map(({ path }) => path)).toEqual(Array(5).fill("/api/v1/events?user=a%26b"));
    expect(sent.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "2", "2", "2", "3"]);
    expect(sent[0]?.headers.get("accept")).toBe(EVENTS);
    expect(clock.pending).toBe(0);
  });

  it("wait as long as the server says before they come again", async () => {
    const { memory, clock, sent } = server([
      stream(EVENTS, ["retry: 3000\n\n"], "end"),
      stream(EVENTS, [event("1")], "hang"),
    ]);
    const reading = memory.events()[Symbol.asyncIterator]();
    const first = reading.next();
    while (sent.length < 1 || clock.pending !== 1) await new Promise(setImmediate);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    clock.advance(2_999);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(sent).toHaveLength(1);
    expect((await passing(clock, first, 100)).value).toMatchObject({ type: "reconnected" });
    await reading.return();
    expect(sent[1]?.init.signal?.aborted).toBe(true); // the request ends with its reader
    expect(clock.pending).toBe(0);
  });

  it("come from another connection when this one has been silent for a minute", async () => {
    const { memory, clock } = server([stream(EVENTS, [event("1")], "hang"), stream(EVENTS, [event("2")], "hang")]);
    const told: string[] = [];
    const reading = (async () => {
      for await (const one of memory.events()) {
        told.push("ids" in one ? String(one.ids[0]) : one.type);
        if (told.length === 3) return;
      }
    })();
    await passing(clock, reading, 10_000);
    expect(told).toEqual(["1", "reconnected", "2"]);
    expect(clock.passed()).toBeGreaterThanOrEqual(60_000);
  });

  it("wait for a reader that is slow", async () => {
    const { memory, clock, sent } = server([stream(EVENTS, [event("1"), event("2")], "hang")]);
    const reading = memory.events();
    await reading.next();
    clock.advance(600_000);
    expect((await reading.next()).value).toMatchObject({ ids: ["2"] });
    expect(sent).toHaveLength(1);
    await reading.return();
  });

  it("fail if they are none", async () => {
    const { memory } = server([stream(EVENTS, ["data: <html>\n\n"], "hang")]);
    await expect(all(memory.events())).rejects.toMatchObject({ code: "unreachable", hint: expect.any(String) });
  });

  it("fail if the server refuses them, and if it is not there at all", async () => {
    const { memory } = server([refused(403, "forbidden")]);
    await expect(all(memory.events())).rejects.toMatchObject({ code: "forbidden" });
    const nowhere = server([cut, cut, cut, cut]);
    await expect(passing(nowhere.clock, all(nowhere.memory.events()))).rejects.toMatchObject({ code: "unreachable" });
    expect(nowhere.sent).toHaveLength(4);
  });

  it("end when the connection is closed, and fail with the reason of its signal", async () => {
    const { memory } = server([stream(EVENTS, [event("1")], "hang")]);
    const reading = memory.events();
    expect((await reading.next()).value).toMatchObject({ ids: ["1"] });
    const next = reading.next();
    await memory.close();
    expect(await next).toEqual({ value: undefined, done: true });

    const controller = new AbortController();
    const signalled = server([stream(EVENTS, [event("1")], "hang")], { signal: controller.signal }).memory.events();
    await signalled.next();
    const failing = signalled.next();
    controller.abort("enough");
    await expect(failing).rejects.toBe("enough");
  });
});

const line = (fields: object): string => JSON.stringify(fields);
const FIRST = line({ type: "cursor", cursor: "c 0" });
const CURSOR = line({ type: "cursor", cursor: "c 1" });
const END = line({ type: "end", counts: {} });

describe("an export", () => {
  it("continues from the last cursor after an interruption, and repeats no line", async () => {
    const { memory, clock, sent } = server([
      stream(NDJSON, ['{"type":"hold', 'fast"}\n{"a":0}\n', `${FIRST}\n{"a":1}\n${CURSOR}\n{"a":2}\n`], "break"),
      stream(NDJSON, [`{"a":2}\n`], "end"), // incomplete without its end line
      stream(NDJSON, [`{"a":2}\n{"a":"ü"}\n${END}\n`], "end"),
    ]);
    const lines = await passing(clock, all(memory.export({ scope: { team: "crew" } })));
    expect(lines).toEqual(['{"type":"holdfast"}', '{"a":0}', FIRST, '{"a":1}', CURSOR, '{"a":2}', '{"a":"ü"}', END]);
    expect(sent.map(({ path }) => path)).toEqual([
      "/api/v1/export?team=crew",
      "/api/v1/export?team=crew&cursor=c+1",
      "/api/v1/export?team=crew&cursor=c+1",
    ]);
  });

  it("fails if it does not come to its end", async () => {
    const { memory, clock, sent } = server([stream(NDJSON, ['{"a":1}\n'], "end"), cut], { retries: 1 });
    await expect(passing(clock, all(memory.export()))).rejects.toMatchObject({ code: "unreachable" });
    expect(sent).toHaveLength(2);
    const refusing = server([refused(403, "forbidden")]);
    await expect(all(refusing.memory.export())).rejects.toMatchObject({ code: "forbidden" });
  });

  it("that is not UTF-8 is interrupted, and continues from its last cursor", async () => {
    const broken: Step = () =>
      new Response(Buffer.from(`${CURSOR}\n{"id":"\xff"}\n`, "latin1"), { headers: { "content-type": NDJSON } });
    const { memory, clock } = server([broken, broken], { retries: 1 });
    const reading = passing(clock, all(memory.export()));
    await expect(reading).rejects.toMatchObject({ code: "unreachable" });
  });

  it("stops with the reason of its signal", async () => {
    const controller = new AbortController();
    const { memory } = server([stream(NDJSON, [`${CURSOR}\n`], "hang")]);
    const lines = memory.export({ signal: controller.signal });
    expect((await lines.next()).value).toBe(CURSOR);
    const next = lines.next();
    controller.abort("enough");
    await expect(next).rejects.toBe("enough");
  });
});

const REPORT = { lines: 2, items: 2 };
const done: Step = () => Response.json({ status: "success", code: 200, data: REPORT, message: "OK", errors: null });
const textOf = ({ init }: Sent) => new Response(init.body as Blob | ReadableStream).text();

describe("an import", () => {
  it("sends a list of lines as one body, and again if it was not answered", async () => {
    const { memory, clock, sent } = server([cut, done]);
    const work = memory.import(["one", "zwei ü"], { scope: { user: "ada" }, onConflict: "skip" });
    expect(await passing(clock, work)).toEqual(REPORT);
    expect(sent.map(({ path }) => path)).toEqual(Array(2).fill("/api/v1/import?user=ada&onConflict=skip"));
    expect(await textOf(sent[1] as Sent)).toBe("one\nzwei ü\n");
    expect(sent[1]?.headers.get("content-type")).toBe(NDJSON);
  });

  it("sends half of a surrogate pair escaped, as JSON can: it is not made U+FFFD, and two names are not made one", async () => {
    const { memory, sent } = server([done, done]);
    const line = '{"id":"\ud800","content":"🦊 \udc00"}';
    async function* lines() {
      yield line;
    }
    await memory.import([line]);
    await memory.import(lines());
    for (const one of sent) {
      const text = await textOf(one);
      expect(text).toBe('{"id":"\\ud800","content":"🦊 \\udc00"}\n');
      expect(JSON.parse(text)).toEqual(JSON.parse(line));
    }
  });

  it("sends lines that come one by one as they come, and cannot send them again", async () => {
    async function* lines() {
      yield "one";
      yield "two";
    }
    const { memory, sent } = server([done, cut]);
    expect(await memory.import(lines())).toEqual(REPORT);
    expect(sent[0]?.init.body).toBeInstanceOf(ReadableStream);
    expect(await textOf(sent[0] as Sent)).toBe("one\ntwo\n");
    await expect(memory.import(lines())).rejects.toMatchObject({ code: "unreachable" });
    expect(sent).toHaveLength(2);
  });

  it("is refused for a scope or an option that is none, and so are the others", async () => {
    const { memory, sent } = server([]);
    await expect(all(memory.export({ scope: {} }))).rejects.toMatchObject({ code: "invalid_input" });
    await expect(all(memory.events({ scope: {} }))).rejects.toMatchObject({ code: "invalid_input" });
    const both = { scope: { user: "ada" }, into: { user: "ada" } };
    await expect(memory.import([], both)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(memory.import([], { scope: {} })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(memory.import([], { onConflict: "ski" as "skip" })).rejects.toMatchObject({ code: "invalid_input" });
    expect(sent).toEqual([]);
  });
});
