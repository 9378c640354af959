/** The minimum rate of a body, the bytes held, and what ends it. */
import type { Context } from "hono";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { chunksOf, heldByLine, readBody } from "./body.js";

const RATE = { graceMs: 10_000, bytesPerSecond: 100 };
const slow = expect.objectContaining({ code: "request_timeout", hint: expect.any(String) });

class Sender {
  readonly clock = new FakeClock();
  readonly c: Context;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(headers: { readonly [name: string]: string } = {}) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.c = { req: { raw: { body }, header: (name: string) => headers[name] } } as unknown as Context;
  }

  send(bytes: number): void {
    this.#controller?.enqueue(new Uint8Array(bytes));
  }

  end(): void {
    this.#controller?.close();
  }
}

/** Runs all pending promises. */
const settled = () => new Promise(setImmediate);

describe("a body that is read", () => {
  it("may be silent for so long, and no longer", async () => {
    const sender = new Sender();
    const chunks = chunksOf(sender.c, sender.clock, RATE);
    const late = expect(chunks.next()).rejects.toEqual(slow);
    sender.clock.advance(9_999);
    await settled();
    sender.clock.advance(1);
    await late;
    expect(sender.clock.pending).toBe(0);
  });

  it("may take as long as it takes if it comes at the lowest rate, and not at less", async () => {
    for (const [bytes, isTimely] of [
      [100, true],
      [90, false],
    ] as const) {
      const sender = new Sender();
      const chunks = chunksOf(sender.c, sender.clock, RATE);
      const reading = (async () => {
        for await (const _ of chunks) await settled();
      })();
      let isLate = false;
      reading.catch(() => {
        isLate = true;
      });
      for (let second = 0; second < 200 && !isLate; second++) {
        await settled();
        await settled();
        sender.clock.advance(1_000);
        sender.send(bytes);
        await settled();
      }
      expect(isLate, `${bytes} bytes a second`).toBe(!isTimely);
      if (isTimely) sender.end();
      if (isTimely) await reading;
      else await expect(reading).rejects.toEqual(slow);
    }
  });

  it("earns by a large chunk at most its initial time", async () => {
    const sender = new Sender();
    const chunks = chunksOf(sender.c, sender.clock, RATE);
    sender.send(1_000_000);
    await chunks.next();
    const late = expect(chunks.next()).rejects.toEqual(slow);
    sender.clock.advance(10_000);
    await late;
  });

  it("is not late while it is not being read", async () => {
    const sender = new Sender();
    const chunks = chunksOf(sender.c, sender.clock, RATE);
    sender.send(1);
    await chunks.next();
    sender.clock.advance(3_600_000);
    sender.send(1);
    sender.end();
    expect((await chunks.next()).done).toBe(false);
    expect((await chunks.next()).done).toBe(true);
  });

  it("ends when the server stops, and leaves nothing behind", async () => {
    const sender = new Sender();
    const stopping = new AbortController();
    const chunks = chunksOf(sender.c, sender.clock, RATE, stopping.signal);
    const next = chunks.next();
    stopping.abort();
    expect((await next).done).toBe(true);
    expect(sender.clock.pending).toBe(0);
    const other = new Sender();
    expect((await chunksOf(other.c, other.clock, RATE, stopping.signal).next()).done).toBe(true);
  });
});

describe("the bytes held of a body", () => {
  it("grow as it arrives, and reading ends when they exceed the limit", async () => {
    const sender = new Sender({ "content-length": "1000" });
    const held: number[] = [];
    const limits = { maxBytes: 1000, clock: sender.clock, hold: (bytes: number) => void held.push(bytes) };
    const reading = readBody(sender.c, limits);
    sender.send(10);
    sender.send(20);
    sender.end();
    expect((await reading).byteLength).toBe(30);
    expect(held).toEqual([10, 30]);

    const other = new Sender();
    const full = new Error("full");
    const hold = (): void => {
      throw full;
    };
    other.send(1);
    await expect(readBody(other.c, { ...limits, hold })).rejects.toBe(full);
  });

  it("is refused before it is read if its length is declared, otherwise when it exceeds the limit", async () => {
    const limits = { maxBytes: 1000, clock: new FakeClock(), hold: () => undefined };
    const large = expect.objectContaining({ code: "too_large", details: { maxBytes: 1000 } });
    await expect(readBody(new Sender({ "content-length": "1001" }).c, limits)).rejects.toEqual(large);
    const sender = new Sender();
    sender.send(1000);
    sender.send(1);
    await expect(readBody(sender.c, limits)).rejects.toEqual(large);
  });

  it("is of lines a chunk, and the line that has not ended", async () => {
    const texts = ["one\ntwo", " is", " long\nthree\n", "four"];
    const held: number[] = [];
    async function* chunks() {
      for (const text of texts) yield Buffer.from(text);
    }
    for await (const _ of heldByLine(chunks(), (bytes) => held.push(bytes))) void _;
    expect(held).toEqual([7, 6, 18, 4]);
  });
});
