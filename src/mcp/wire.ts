/**
 * Wire: messages on two streams, one per line.
 *
 * It ends when the other side has closed its end, but not before what was asked until then is answered: whoever pipes
 * requests in gets the answers, and no write is cut off. After `close` nothing is read or sent any more.
 */
import type { Readable, Writable } from "node:stream";
import {
  deserializeMessage,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { HoldfastError } from "../errors.js";

type Message = Parameters<Transport["send"]>[0];

export interface WireParts {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Told of each request before it is answered; what it waits for, the request waits for. */
  readonly seen: (method: string) => Promise<void> | undefined;
}

/** One message of a client: the largest text that can be saved, with every character escaped. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const NEWLINE = 0x0a;
/** Goes on for as long as the client wants to be told. */
const ENDLESS = "subscriptions/listen";

export class Wire implements Transport {
  readonly #parts: WireParts;
  /** Of a line whose end has not come yet. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Requests that wait for an answer. */
  readonly #asked = new Set<unknown>();
  #isOver = false;
  #isClosed = false;
  #end = (): void => {};
  /** Resolves when it has closed. */
  readonly ended: Promise<void>;
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  constructor(parts: WireParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.#parts;
    stdin.on("data", this.#read);
    stdin.on("error", this.#failed);
    stdin.on("end", this.#finish);
    stdin.on("close", this.#finish);
    stdout.on("error", this.#cut); // stays: what was written may fail later
    if (stdin.readableEnded || stdin.destroyed) this.#finish();
  }

  /** Resolves when the message is on its way; the reader may be slow. */
  async send(message: Message): Promise<void> {
    if (this.#isClosed) throw new Error("the wire is closed");
    this.#parts.stdout.write(serializeMessage(message));
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { stdin } = this.#parts;
    stdin.off("data", this.#read);
    stdin.off("end", this.#finish);
    stdin.off("close", this.#finish);
    stdin.pause();
    this.onclose?.();
    this.#end();
  }

  readonly #read = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !this.#isClosed; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#take();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  };

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
    if (this.#bytes <= MESSAGE_BYTES_MAX || this.#isClosed) return;
    this.onerror?.(
      new HoldfastError("too_large", "a message is too long", { hint: `send at most ${MESSAGE_BYTES_MAX} bytes` }),
    );
    void this.close();
  }

  /** The line that is complete. A blank one is nothing; one that is no message has no sender who could be answered. */
  #take(): void {
    const line = Buffer.concat(this.#pieces).toString("utf8").trim();
    this.#pieces = [];
    this.#bytes = 0;
    if (line === "" || this.#isClosed) return;
    const message = messageIn(line);
    if (message) this.#deliver(message);
    else this.onerror?.(new HoldfastError("invalid_input", "a line is no message", { hint: "send JSON-RPC 2.0" }));
  }

  #deliver(message: Message): void {
    if (isJSONRPCRequest(message) && message.method !== ENDLESS) this.#asked.add(message.id);
    const waiting = "method" in message ? this.#parts.seen(message.method) : undefined;
    if (waiting) void waiting.then(() => this.onmessage?.(message));
    else this.onmessage?.(message);
    // What is called off is not answered.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.["requestId"]);
    }
  }

  #settle(id: unknown): void {
    this.#asked.delete(id);
    if (this.#isOver && this.#asked.size === 0) void this.close();
  }

  /** The other side says no more. Its last line may lack an end. */
  readonly #finish = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#take();
    if (this.#asked.size === 0) void this.close();
  };

  readonly #failed = (error: Error): void => {
    this.onerror?.(error);
  };

  /** Nobody reads any more: there is nobody to answer. */
  readonly #cut = (error: NodeJS.ErrnoException): void => {
    if (this.#isClosed) return;
    if (error.code !== "EPIPE") this.onerror?.(error);
    void this.close();
  };
}

/** Undefined: it is none. What is wrong with it would quote it. */
function messageIn(line: string): Message | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}
