import { PassThrough, Writable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { StdioTransport, type StdioTransportParts } from "./stdio-transport.js";

type Message = Parameters<Transport["send"]>[0];

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const request = (id: number, method = "ping"): Message => ({ jsonrpc: "2.0", id, method });
const answer = (id: number, text = ""): Message => ({ jsonrpc: "2.0", id, result: { text } });
const cancelling = (id: number): Message => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: id },
});

/** Runs all pending promises and stream events. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A deferred promise. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A reader that takes nothing until told to. */
class SlowReader extends Writable {
  #isReading = false;
  #taken: (() => void) | undefined;

  override _write(_chunk: Buffer, _encoding: string, taken: () => void): void {
    if (this.#isReading) taken();
    else this.#taken = taken;
  }

  read(): void {
    this.#isReading = true;
    this.#taken?.();
  }
}

/** A started transport between in-memory streams, with what it delivered and sent. */
async function connected(parts: Partial<StdioTransportParts> = {}) {
  const stdin = new PassThrough();
  const out = new PassThrough();
  const transport = new StdioTransport({ stdin, stdout: out, seen: () => undefined, ...parts });
  const heard: Message[] = [];
  const errors: Error[] = [];
  transport.onmessage = (message) => heard.push(message as Message);
  transport.onerror = (error) => errors.push(error);
  await transport.start();
  const sent = (): unknown[] => {
    const text = String(out.read() ?? "");
    return text.split("\n").flatMap((one) => (one === "" ? [] : [JSON.parse(one) as unknown]));
  };
  return { stdin, transport, heard, errors, sent };
}

describe("the order of messages", () => {
  it("neither a cancellation nor any other message overtakes a waiting request", async () => {
    const look = gate();
    const { stdin, heard, transport } = await connected({
      seen: (method) => (method === "slow" ? look.opened : undefined),
    });
    const messages = [request(1), request(2, "slow"), cancelling(2), request(3)];
    stdin.write(messages.map(line).join(""));
    await settled();
    expect(heard).toEqual([request(1)]);
    look.open();
    await settled();
    expect(heard).toEqual(messages);
    // Cancelled requests are not waited for.
    await transport.send(answer(1));
    await transport.send(answer(3));
    stdin.end();
    await transport.ended;
  });

  it("a message is delivered at once when no other is waiting", async () => {
    const log: string[] = [];
    const seen = (method: string): Promise<void> | undefined => {
      log.push(`seen ${method}`);
      return method === "slow" ? Promise.resolve() : undefined;
    };
    const { stdin, transport } = await connected({ seen });
    transport.onmessage = (message) => log.push("method" in message ? message.method : "");
    stdin.write(line(request(1, "slow")));
    await settled();
    stdin.write(line(request(2, "a")) + line(request(3, "b")));
    await settled();
    expect(log).toEqual(["seen slow", "slow", "seen a", "a", "seen b", "b"]);
  });

  it("waiting messages are answered before the end, and not delivered after a close", async () => {
    const look = gate();
    const one = await connected({ seen: () => look.opened });
    const other = await connected({ seen: () => look.opened });
    for (const { stdin } of [one, other]) stdin.end(line(request(1)));
    await settled();
    await other.transport.close();
    look.open();
    await settled();
    expect(other.heard).toEqual([]);
    expect(one.heard).toEqual([request(1)]);
    await one.transport.send(answer(1));
    await one.transport.ended;
  });
});

describe("an invalid message", () => {
  const refused = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -32600, message: expect.any(String) } });

  it.each([
    ["params that are none", '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":5}', 7],
    ["another version", '{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"],
    ["no method", '{"jsonrpc":"2.0","id":0}', 0],
    ["an id that is no whole number", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', null],
  ])("an invalid request that has an id is answered: %s", async (_, text, id) => {
    const { stdin, sent, errors, heard } = await connected();
    stdin.write(`${text}\n${line(request(1))}`);
    await settled();
    expect(sent()).toEqual([refused(id)]);
    expect(errors.map(({ message }) => message)).toEqual(["the line is not a JSON-RPC message"]);
    expect(heard).toEqual([request(1)]);
  });

  it.each([
    ["an argument", '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\xff"}}', 7],
    ["the id", '{"jsonrpc":"2.0","id":"\xff","method":"ping"}', null],
  ])("a request that is not UTF-8 is refused, not made another one: %s", async (_, text, id) => {
    const { stdin, sent, heard } = await connected();
    stdin.write(Buffer.from(`${text}\n`, "latin1"));
    await settled();
    expect(sent()).toEqual([refused(id)]);
    expect(heard).toEqual([]);
  });

  it.each([
    ["deep", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${"[".repeat(100_000)}`],
    ["of many elements", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":[${"0,".repeat(200_000)}0]}}`],
  ])("a request that is too %s is refused before it is parsed", async (_, text) => {
    const { stdin, sent, heard } = await connected();
    stdin.write(`${text}\n${line(request(1))}`);
    await settled();
    expect(sent()).toEqual([refused(null)]);
    expect(heard).toEqual([request(1)]);
  });

  it.each([
    ["no JSON", '{"jsonrpc":"2.0","id":7,"method":'],
    ["no object", "7"],
    ["null", "null"],
    ["a list", '[{"jsonrpc":"2.0","id":7,"method":"ping"}]'],
    ["a notification", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}'],
    ["a result", '{"jsonrpc":"2.0","id":7,"result":5}'],
    ["an error", '{"jsonrpc":"2.0","id":7,"error":5}'],
  ])("a message that expects no answer gets none: %s", async (_, text) => {
    const { stdin, sent, errors } = await connected();
    stdin.write(`${text}\n`);
    await settled();
    expect(sent()).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it("an invalid request does not count as the answer to a request of the same id", async () => {
    const { stdin, transport, sent } = await connected();
    stdin.end(`${line(request(7))}{"jsonrpc":"2.0","id":7,"method":5}\n`);
    await settled();
    await transport.send(answer(7));
    await transport.ended;
    expect(sent()).toEqual([refused(7), answer(7)]);
  });
});

describe("a client that sends and does not read", () => {
  const MIB = 1024 * 1024;

  /** Sends requests until no more are taken; each is answered with a MiB. */
  async function flooded() {
    const stdout = new SlowReader();
    const { stdin, heard, transport } = await connected({ stdout });
    transport.onmessage = (message) => {
      heard.push(message as Message);
      if ("id" in message) void transport.send(answer(Number(message.id), "x".repeat(MIB)));
    };
    const filler = " ".repeat(100_000);
    let asked = 0;
    const ask = (): boolean => stdin.write(filler + line(request(++asked)));
    for (; asked < 1_000; await settled()) if (!ask()) break;
    return { stdin, stdout, heard, transport, asked: () => asked };
  }

  it("is paused: neither answers nor requests accumulate without bound", async () => {
    const { stdin, stdout, heard, asked } = await flooded();
    expect(stdout.writableLength).toBeGreaterThan(4 * MIB);
    expect(stdout.writableLength).toBeLessThan(6 * MIB);
    expect(heard.length).toBeLessThan(asked());
    expect(asked()).toBeLessThan(50);
    expect(stdin.isPaused()).toBe(true);
  });

  it("gets all answers when it reads, however late", async () => {
    const { stdin, stdout, heard, transport, asked } = await flooded();
    stdout.read();
    await settled();
    expect(heard.length).toBe(asked());
    stdin.end(line(request(999)));
    await transport.ended;
    expect(heard.at(-1)).toEqual(request(999));
  });

  it("gets everything delivered when it closes its side, even if it does not read", async () => {
    const stdout = new SlowReader();
    const { stdin, transport, heard } = await connected({ stdout });
    await transport.send(answer(0, "x".repeat(5 * MIB)));
    stdin.write(line(request(1)));
    await settled();
    expect(heard).toEqual([]);
    stdin.end(line(request(2)));
    await settled();
    expect(heard).toEqual([request(1), request(2)]);
    await transport.send(answer(1, "x".repeat(5 * MIB)));
    await transport.send(answer(2));
    await transport.ended;
  });

  it("does not prevent closing", async () => {
    const { stdout, transport, heard } = await flooded();
    const { length } = heard;
    await transport.close();
    stdout.read();
    await settled();
    await transport.ended;
    expect(heard.length).toBe(length);
  });
});
