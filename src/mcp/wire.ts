/**
 * Wire: messages on two streams, one per line.
 *
 * It ends when the other side has closed its end, but not before what was asked until then is answered: whoever pipes
 * requests in gets the answers, and no write is cut off. After `close` nothing is read or sent any more.
 *
 * Invariants: messages are handed on in the order in which they came. A client that sends and does not read is not
 * listened to until it has read: what waits for it, and what it has sent meanwhile, stays within bounds.
 */
import { PassThrough, type Readable, type Writable } from "node:stream";
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
  /** Told of each message before it is handed on; what it waits for, that message and all after it wait for. */
  readonly seen: (method: string) => Promise<void> | undefined;
}

/** One message of a client: the largest text that can be saved, with every character escaped. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Answers that wait for a client to read them. When there are more, it is not listened to until it has read all. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/**
 * What is taken in of a client that is not listened to, so that its end is noticed. Then all of it is answered, and an
 * answer may be a hundred times as long as its request.
 */
const UNHEARD_BYTES_MAX = 128 * 1024;
const NEWLINE = 0x0a;
const INVALID_REQUEST = -32600;
/** Goes on for as long as the client wants to be told. */
const ENDLESS = "subscriptions/listen";

export class Wire implements Transport {
  readonly #parts: WireParts;
  /** Between stdin and the lines: it can be held while stdin is read on, up to a bound. */
  readonly #inbox = new PassThrough({ highWaterMark: UNHEARD_BYTES_MAX });
  /** Of a line whose end has not come yet. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Requests that wait for an answer. */
  readonly #asked = new Set<unknown>();
  /** Messages that are not handed on yet: resolves after the last of them. Undefined: none waits. */
  #queue: Promise<void> | undefined;
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
    this.#inbox.on("data", this.#read);
    this.#inbox.on("end", this.#finish);
    stdin.on("error", this.#failed);
    stdin.on("end", this.#hearOut);
    stdin.on("close", this.#hearOut);
    stdout.on("error", this.#cut); // stays: what was written may fail later
    stdin.pipe(this.#inbox, { end: false });
    if (stdin.readableEnded || stdin.destroyed) this.#hearOut();
  }

  /** Resolves when the message is on its way; the reader may be slow. */
  async send(message: Message): Promise<void> {
    if (this.#isClosed) throw new Error("the wire is closed");
    this.#write(serializeMessage(message));
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { stdin } = this.#parts;
    stdin.unpipe(this.#inbox);
    stdin.off("end", this.#hearOut);
    stdin.off("close", this.#hearOut);
    stdin.pause();
    this.#inbox.destroy();
    this.onclose?.();
    this.#end();
  }

  #write(line: string): void {
    const { stdout } = this.#parts;
    const inbox = this.#inbox;
    stdout.write(line);
    if (!stdout.writableNeedDrain || stdout.writableLength <= UNREAD_BYTES_MAX) return;
    if (inbox.isPaused() || inbox.writableEnded) return;
    inbox.pause();
    stdout.once("drain", () => inbox.resume());
  }

  /** The other side says no more: what it has said is heard now, whether it reads or not. */
  readonly #hearOut = (): void => {
    this.#inbox.end();
    this.#inbox.resume();
  };

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

  /** The line that is complete. A blank one is nothing. */
  #take(): void {
    const line = Buffer.concat(this.#pieces).toString("utf8").trim();
    this.#pieces = [];
    this.#bytes = 0;
    if (line === "" || this.#isClosed) return;
    const message = messageIn(line);
    if (message) this.#deliver(message);
    else this.#refuse(line);
  }

  /** Whoever waits for an answer gets one. A line that is no JSON may come from anybody, and gets none. */
  #refuse(line: string): void {
    this.onerror?.(new HoldfastError("invalid_input", "a line is no message", { hint: "send JSON-RPC 2.0" }));
    const id = idAskedIn(line);
    if (id === undefined) return;
    const error = { code: INVALID_REQUEST, message: "Invalid Request: no message of JSON-RPC 2.0" };
    this.#write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
  }

  #deliver(message: Message): void {
    if (isJSONRPCRequest(message) && message.method !== ENDLESS) this.#asked.add(message.id);
    const waiting = "method" in message ? this.#parts.seen(message.method) : undefined;
    if (waiting || this.#queue) this.#enqueue(message, waiting);
    else this.#handOn(message);
  }

  #enqueue(message: Message, waiting: Promise<void> | undefined): void {
    const queue = Promise.all([this.#queue, waiting]).then(() => {
      if (this.#queue === queue) this.#queue = undefined;
      this.#handOn(message);
    });
    this.#queue = queue;
  }

  #handOn(message: Message): void {
    if (this.#isClosed) return;
    this.onmessage?.(message);
    // What is called off is not answered.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.["requestId"]);
    }
  }

  #settle(id: unknown): void {
    this.#asked.delete(id);
    if (this.#isOver && this.#asked.size === 0) void this.close();
  }

  /** All is heard. The last line may lack an end. */
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

/** Of a request that is none: its id, or null if nothing could have that id. Undefined: nobody waits for an answer. */
function idAskedIn(line: string): string | number | null | undefined {
  const value = jsonIn(line);
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  if ("result" in value || "error" in value) return undefined; // an answer
  const { id } = value;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
