/** Failing calls: which are retried, when, and what the caller gets. */
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { FakeClock } from "../testing/fake-clock.js";
import type { ConnectOptions } from "./endpoint.js";
import { connect } from "./remote-memory.js";

const URL_ = "http://127.0.0.1:8000";
const SCOPE = { user: "ada", session: "s" };
const SAID = [{ role: "user", content: "hello" }] as const;
const ADDED = { ids: ["m"], sequences: [1], repeated: false };

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** What the server does with one request: a response, or none. */
type Step = (init: RequestInit) => Response | Promise<Response>;

const ok =
  (data: unknown): Step =>
  () =>
    Response.json({ status: "success", code: 200, data, message: "OK", errors: null });
const refuse =
  (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Step =>
  () =>
    Response.json(
      {
        status: "error",
        code: status,
        data: null,
        message: `refused: ${code}`,
        errors: null,
        error: { code, hint: "wait", retryable: true, ...more },
      },
      { status, headers },
    );
const page =
  (status: number): Step =>
  () =>
    new Response("<html>secret text</html>", { status, headers: { "content-type": "text/html; charset=utf-8" } });
const cut: Step = () => {
  throw new TypeError("fetch failed");
};
/** Never responds; like fetch, it rejects with the signal's reason. */
const hang: Step = ({ signal }) =>
  new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason));
  });

function server(steps: readonly Step[], options: ConnectOptions = {}) {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const rest = [...steps];
  const memory = connect(URL_, {
    clock,
    ...options,
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url);
      const body = init.body === undefined || init.body === null ? undefined : JSON.parse(String(init.body));
      sent.push({ method: String(init.method), path: pathname + search, headers: new Headers(init.headers), body });
      const step = rest.shift();
      if (!step) throw new Error("asked too often");
      return step(init);
    },
  });
  return { memory, session: memory.session(SCOPE), clock, sent };
}

/** Runs promises until the call waits for the clock, then advances it, until the call has ended. */
async function settle<T>(clock: FakeClock, work: Promise<T>, stepMs = 10_000): Promise<T> {
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

describe("a call", () => {
  it("names method, path, scope, key and body", async () => {
    const { memory, sent } = server([ok({ version: 2 })], { key: "hf_secret" });
    const session = memory.session({ user: "a b&c", session: "ü/?#" });
    expect(await session.update("x/y z", { content: "new" }, { expectVersion: 1 })).toBe(2);
    expect(sent).toMatchObject([
      {
        method: "PATCH",
        path: "/api/v1/items/x%2Fy%20z?user=a+b%26c&session=%C3%BC%2F%3F%23",
        body: { content: "new", expectVersion: 1 },
      },
    ]);
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer hf_secret");
    expect(sent[0]?.headers.get("content-type")).toBe("application/json");
  });

  it("keeps the path of a server behind a reverse proxy", async () => {
    for (const url of ["https://x.test/hold/fast/", "https://x.test/hold/fast/api/v1"]) {
      let asked = "";
      const fetch = async (address: string, init: RequestInit) => {
        asked = address;
        return ok([])(init);
      };
      await connect(url, { fetch }).session(SCOPE).blocks.list();
      expect(asked).toBe("https://x.test/hold/fast/api/v1/blocks?user=ada&session=s");
    }
  });

  it("is refused before anything is sent if a name is not valid in a URL", async () => {
    const { session, sent } = server([]);
    await expect(session.blocks.get("..")).rejects.toMatchObject({ code: "unsupported" });
    await expect(session.blocks.get("")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(session.update("\ud800", {})).rejects.toMatchObject({ code: "invalid_input" });
    expect(sent).toEqual([]);
  });

  it("fails with the engine's error: code, message, hint, details", async () => {
    const { session } = server([refuse(409, "conflict", {}, { details: { version: 3 } })]);
    const error = await session.update("x", {}).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({
      code: "conflict",
      message: "refused: conflict",
      hint: "wait",
      details: { version: 3 },
      retryable: false,
    });
  });

  it.each([
    [200, "unreachable"],
    [404, "unreachable"],
    [401, "unauthorized"],
    [413, "too_large"],
  ])(
    "says so when status %i comes from something that is no Holdfast server, and shows none of it",
    async (status, code) => {
      const { session } = server([page(status)]);
      const error = await session.query("x").catch((failure: unknown) => failure as HoldfastError);
      expect(error).toMatchObject({ code, details: { status }, hint: expect.stringContaining("URL") });
      expect(String((error as HoldfastError).message)).not.toContain("secret");
      expect(String((error as HoldfastError).message)).toContain("text/html");
    },
  );
});

describe("a call that was not answered", () => {
  it("is repeated if it reads, three times, and then rejects with what failed", async () => {
    const { session, clock, sent } = server([cut, cut, cut, cut]);
    const failed = settle(clock, session.query("x"));
    await expect(failed).rejects.toMatchObject({
      code: "unreachable",
      hint: expect.stringContaining("holdfast serve"),
    });
    await expect(failed).rejects.toMatchObject({ cause: { message: "fetch failed" }, retryable: true });
    expect(sent).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it("is repeated if it adds, with one key that the client has made", async () => {
    const { session, clock, sent } = server([cut, page(502), ok(ADDED), ok(ADDED)]);
    expect(await settle(clock, session.add(SAID))).toEqual(ADDED);
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[2]?.body).toEqual(sent[0]?.body);
    await session.add(SAID);
    expect(sent[3]?.headers.get("idempotency-key")).not.toBe(keys[0]);
  });

  it("keeps the caller's own key, written so that a header can carry it", async () => {
    const { session, sent } = server([ok(ADDED), ok(ADDED), ok([ADDED])]);
    await session.add(SAID, { idempotencyKey: "mine" });
    await session.addItems([{ kind: "knowledge", content: "x" }], { idempotencyKey: "€ 5" });
    await session.addBatch([SAID], { idempotencyKey: "utf-8''x" });
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      "mine",
      "UTF-8''%E2%82%AC%205",
      "UTF-8''utf-8''x",
    ]);
  });

  it("has no key and one try without retries", async () => {
    const { session, sent } = server([cut], { retries: 0 });
    await expect(session.add(SAID)).rejects.toMatchObject({ code: "unreachable" });
    expect(sent[0]?.headers.get("idempotency-key")).toBeNull();
  });

  it.each([
    ["an edit", (s: ReturnType<typeof server>["session"]) => s.blocks.edit("b", { append: "x" })],
    ["an update", (s: ReturnType<typeof server>["session"]) => s.update("m", { content: "x" })],
    ["an upsert", (s: ReturnType<typeof server>["session"]) => s.facts.upsert({ category: "c", content: "x" })],
    [
      "a promotion",
      (s: ReturnType<typeof server>["session"]) => s.promote(["m"], { to: { user: "ada" }, reason: "r" }),
    ],
    ["a context, whose ledger may have been written", (s: ReturnType<typeof server>["session"]) => s.context()],
  ])("is repeated under one key if it is %s", async (_, call) => {
    for (const step of [cut, page(504), refuse(503, "store_failed")]) {
      const { session, clock, sent } = server([step, ok({ ids: [], version: 2 })]);
      await settle<unknown>(clock, call(session));
      expect(sent).toHaveLength(2);
      const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
      expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
      expect(sent[1]?.body).toEqual(sent[0]?.body);
    }
  });

  it.each([
    ["a delete", (s: ReturnType<typeof server>["session"]) => s.delete(["m"])],
    ["a forget", (s: ReturnType<typeof server>["session"]) => s.forget()],
    ["a delete of a block", (s: ReturnType<typeof server>["session"]) => s.blocks.delete("b")],
    ["an extraction", (s: ReturnType<typeof server>["session"]) => s.facts.extract()],
  ])("is not repeated if it is %s: its second answer would not be the first", async (_, call) => {
    for (const step of [cut, page(504), refuse(503, "store_failed")]) {
      const { session, sent } = server([step]);
      await expect(call(session)).rejects.toBeInstanceOf(HoldfastError);
      expect(sent).toHaveLength(1);
      expect(sent[0]?.headers.get("idempotency-key")).toBeNull();
    }
  });

  it.each([
    ["a context that notes nothing", (m: ReturnType<typeof server>) => m.session.context({ dryRun: true })],
    ["a flush", (m: ReturnType<typeof server>) => m.memory.flush()],
    ["a name that may be taken", (m: ReturnType<typeof server>) => m.memory.users.ensure("ada")],
    ["a revocation", (m: ReturnType<typeof server>) => m.memory.keys.revoke("k")],
  ])("is repeated if it is %s", async (_, call) => {
    const opened = server([cut, ok({})]);
    await settle<unknown>(opened.clock, call(opened));
    expect(opened.sent).toHaveLength(2);
  });

  it("is repeated if it is a turn, under one key; and so it is when the caller commits it again", async () => {
    const { session, clock, sent } = server([cut, ok(ADDED), ...Array<Step>(4).fill(cut), ok(ADDED), ok(ADDED)]);
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "x" } });
    turn.push({ op: "edit_block", block: "b", append: "x" });
    await settle(clock, session.commit(turn));
    expect(sent[1]?.body).toEqual(sent[0]?.body);
    expect(sent[0]?.body).toMatchObject({ writes: [{ message: { id: expect.stringMatching(/-7/) } }, {}] });

    turn.push({ op: "edit_block", block: "b", append: "y" });
    await expect(settle(clock, session.commit(turn))).rejects.toMatchObject({ code: "unreachable" });
    expect(turn.length).toBe(1);
    turn.push({ op: "edit_block", block: "b", append: "z" });
    await settle(clock, session.commit(turn));
    expect(turn.isEmpty).toBe(true);
    const edits = sent.slice(2).map(({ headers, body }) => {
      const { writes } = body as { readonly writes: readonly { readonly append: string }[] };
      return { key: headers.get("idempotency-key"), appended: writes.map(({ append }) => append) };
    });
    const [first] = edits;
    expect(edits.slice(0, 5)).toEqual(Array(5).fill({ key: first?.key, appended: ["y"] }));
    expect(edits[5]).toEqual({ key: expect.any(String), appended: ["z"] });
    expect(edits[5]?.key).not.toBe(first?.key);
  });
});

describe("a server that is not there", () => {
  it.each(["ECONNREFUSED", "ENOTFOUND"])("is asked again whatever was asked, where that is known: %s", async (code) => {
    const refusing: Step = () => Promise.reject(new TypeError("fetch failed", { cause: { code } }));
    const { session, clock, sent } = server([refusing, ok({ version: 2 })]);
    expect(await settle(clock, session.update("m", { content: "x" }))).toBe(2);
    expect(sent).toHaveLength(2);
  });
});

describe("a server that is busy", () => {
  it.each([
    ["rate_limited", 429],
    ["request_timeout", 408],
    ["overloaded", 503],
    ["busy", 503],
  ] as const)("is asked again whatever was asked: it says %s", async (code, status) => {
    const { session, clock, sent } = server([refuse(status, code), ok({ version: 2 })]);
    expect(await settle(clock, session.update("m", { content: "x" }))).toBe(2);
    expect(sent).toHaveLength(2);
  });

  it("is asked again after the time that it names, in seconds or as a date, and not before", async () => {
    for (const name of [() => "7", (now: number) => new Date(now + 7_000).toUTCString()]) {
      const first = new FakeClock();
      const { session, clock, sent } = server(
        [refuse(429, "rate_limited", { "retry-after": name(first.now()) }), ok([])],
        {},
      );
      const call = session.get(["m"]);
      while (clock.pending === 0 || sent.length === 0) await new Promise(setImmediate);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      clock.advance(6_999);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(sent).toHaveLength(1);
      expect(await settle(clock, call, 300)).toEqual([]);
      expect(sent).toHaveLength(2);
    }
  });

  it("is not waited for if it wants minutes", async () => {
    const { session, sent } = server([refuse(503, "overloaded", { "retry-after": "120" })]);
    await expect(session.get(["m"])).rejects.toMatchObject({ code: "overloaded" });
    expect(sent).toHaveLength(1);
  });

  it("is waited for longer each time, never the same for all", async () => {
    const waits: number[] = [];
    const clock = new FakeClock();
    const counting = {
      now: () => clock.now(),
      passed: () => clock.passed(),
      after: (ms: number, task: () => void) => {
        if (ms < 30_000) waits.push(ms);
        return clock.after(ms, task);
      },
    };
    const { session } = server(
      Array.from({ length: 8 }, () => cut),
      { clock: counting, retries: 7 },
    );
    await expect(settle(clock, session.query("x"), 5_000)).rejects.toMatchObject({ code: "unreachable" });
    expect(waits).toHaveLength(7);
    for (const [tries, ms] of waits.entries()) {
      const longest = Math.min(200 * 2 ** tries, 5_000);
      expect(ms).toBeGreaterThanOrEqual(longest / 2);
      expect(ms).toBeLessThanOrEqual(longest);
    }
    expect(new Set(waits).size).toBe(7);
  });
});

describe("a call that takes too long", () => {
  it("is given up after its time, and repeated if it may be", async () => {
    const { session, clock, sent } = server([hang, ok([])], { timeoutMs: 1_000 });
    expect(await settle(clock, session.get(["m"]), 1_000)).toEqual([]);
    expect(sent).toHaveLength(2);
    const slow = server([hang], { timeoutMs: 1_000 });
    await expect(settle(slow.clock, slow.session.replay(), 1_000)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("1000 ms"),
    });
  });

  it("has ten times as long if it waits for work to be done", async () => {
    const { session, clock } = server([hang], { timeoutMs: 1_000, retries: 0 });
    const call = session.flush();
    call.catch(() => undefined);
    await new Promise(setImmediate);
    clock.advance(9_999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    await expect(call).rejects.toMatchObject({ message: expect.stringContaining("10000 ms") });
  });
});

describe("a signal", () => {
  it.each(["connect", "session"])(
    "of the %s ends what is under way with its own reason, and nothing is repeated",
    async (which) => {
      const controller = new AbortController();
      const { memory, sent } = server([hang], which === "connect" ? { signal: controller.signal } : {});
      const session = memory.session(SCOPE, which === "session" ? { signal: controller.signal } : {});
      const reason = new Error("enough");
      const calls = [session.query("x")];
      await new Promise(setImmediate);
      controller.abort(reason);
      for (const call of calls) await expect(call).rejects.toBe(reason);
      await expect(session.facts.list()).rejects.toBe(reason);
      await expect(session.blocks.list()).rejects.toBe(reason);
      expect(sent.length).toBeLessThanOrEqual(3);
    },
  );

  it("ends a wait before a repetition", async () => {
    const controller = new AbortController();
    const { memory, clock, sent } = server([cut]);
    const call = memory.session(SCOPE, { signal: controller.signal }).query("x");
    while (clock.pending === 0 || sent.length === 0) await new Promise(setImmediate);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    controller.abort("enough");
    await expect(call).rejects.toBe("enough");
    expect(clock.pending).toBe(0);
  });

  it("leaves other sessions alone, and holds on to nothing", async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const { memory, session } = server([ok([]), ok([])]);
    await memory.session(SCOPE, { signal }).get(["m"]);
    expect(listeners).toBe(0);
    controller.abort();
    expect(await session.get(["m"])).toEqual([]);
  });
});

describe("a connection that is closed", () => {
  it("answers what is under way and refuses the rest", async () => {
    let answer = (_: Response): void => {};
    const { memory, session, sent } = server([() => new Promise((resolve) => (answer = resolve))]);
    const call = session.get(["m"]);
    await new Promise(setImmediate);
    let isClosed = false;
    const closing = memory.close().then(() => {
      isClosed = true;
    });
    await expect(session.get(["m"])).rejects.toMatchObject({ code: "closed" });
    expect(isClosed).toBe(false);
    answer(await ok([])({}));
    expect(await call).toEqual([]);
    await closing;
    expect(sent).toHaveLength(1);
  });
});
