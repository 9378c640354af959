/**
 * StdioTransport: a transport of JSON-RPC messages over two streams, one per line.
 *
 * It ends when the client closes its side, but only after all requests received until then are answered: a client that pipes
 * requests in gets its answers, and no write is cut off. After `close` nothing is read or sent.
 *
 * Invariants: messages are delivered in order. If a client sends without reading, delivery pauses until it has read; both the
 * unread answers and the undelivered input are bounded.
 */
import { isUtf8 } from "node:buffer";
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
import { checkJsonBounds } from "../input/json-text.js";

type Message = Parameters<Transport["send"]>[0];

export interface StdioTransportParts {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Called for each message before delivery. Delivery of this and later messages waits for the promise it returns. */
  readonly seen: (method: string) => Promise<void> | undefined;
}

/** The largest message: the largest text that can be saved, with every character escaped. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Limit of unread answers. Beyond it, delivery pauses until the client has read all of them. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Limit of the input that is buffered while delivery is paused, so that the client's end is noticed. All of it is answered
 * then, and an answer may be a hundred times as long as its request.
 */
const UNHEARD_BYTES_MAX = 128 * 1024;
const NEWLINE = 0x0a;
const INVALID_REQUEST = -32600;
/** Has no answer: it stays open for as long as the client subscribes. */
const ENDLESS = "subscriptions/listen";

export class StdioTransport implements Transport {
  readonly #parts: StdioTransportParts;
  /** Between stdin and the parser: it can be paused while stdin is still read, up to its limit. */
  readonly #inbox = new PassThrough({ highWaterMark: UNHEARD_BYTES_MAX });
  /** Pieces of the line that is not complete yet. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Requests without an answer so far. */
  readonly #asked = new Set<unknown>();
  /** Resolves after the last undelivered message. Undefined: there is none. */
  #queue: Promise<void> | undefined;
  #isOver = false;
  #isClosed = false;
  #end = (): void => {};
  /** Resolves when the transport has closed. */
  readonly ended: Promise<void>;
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  constructor(parts: StdioTransportParts) {
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
    stdout.on("error", this.#cut); // never removed: earlier writes may fail later
    stdin.pipe(this.#inbox, { end: false });
    if (stdin.readableEnded || stdin.destroyed) this.#hearOut();
  }

  /** Resolves when the message is buffered; the reader may be slow. */
  async send(message: Message): Promise<void> {
    if (this.#isClosed) throw new Error("the transport is closed");
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

  /** Stdin has ended: everything it sent is delivered now, whether or not the client reads. */
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
      new HoldfastError("too_large", "the message is too long", { hint: `send at most ${MESSAGE_BYTES_MAX} bytes` }),
    );
    void this.close();
  }

  /** Takes the completed line. A blank one is ignored. */
  #take(): void {
    const bytes = Buffer.concat(this.#pieces);
    const line = bytes.toString("utf8").trim();
    this.#pieces = [];
    this.#bytes = 0;
    if (line === "" || this.#isClosed) return;
    const message = isUtf8(bytes) ? messageIn(line) : undefined;
    if (message) this.#deliver(message);
    else this.#refuse(line);
  }

  /** Answers an invalid request that has an id. A line that is not JSON gets no answer. */
  #refuse(line: string): void {
    this.onerror?.(
      new HoldfastError("invalid_input", "the line is not a JSON-RPC message", { hint: "send JSON-RPC 2.0" }),
    );
    const id = idAskedIn(line);
    if (id === undefined) return;
    const error = { code: INVALID_REQUEST, message: "Invalid Request: not a JSON-RPC 2.0 message in UTF-8" };
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
    // A cancelled request is not answered.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.["requestId"]);
    }
  }

  #settle(id: unknown): void {
    this.#asked.delete(id);
    if (this.#isOver && this.#asked.size === 0) void this.close();
  }

  /** All input was delivered. The last line may lack a line break. */
  readonly #finish = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#take();
    if (this.#asked.size === 0) void this.close();
  };

  readonly #failed = (error: Error): void => {
    this.onerror?.(error);
  };

  /** The client no longer reads, so there is no one to answer. */
  readonly #cut = (error: NodeJS.ErrnoException): void => {
    if (this.#isClosed) return;
    if (error.code !== "EPIPE") this.onerror?.(error);
    void this.close();
  };
}

/** Undefined if the line is not a message. The parser's error would quote it. */
function messageIn(line: string): Message | undefined {
  try {
    checkJsonBounds(line, "the message");
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

/** The id of an invalid request, or null if the id itself is invalid. Undefined if no one expects an answer. */
function idAskedIn(line: string): string | number | null | undefined {
  const value = jsonIn(line);
  if (value === TOO_MUCH) return null;
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  if ("result" in value || "error" in value) return undefined; // an answer
  const { id } = value;
  if (typeof id === "string") return id.includes("\uFFFD") ? null : id; // may stem from bytes that are not UTF-8
  return typeof id === "number" && Number.isSafeInteger(id) ? id : null;
}

/** For a request too deep or too large to be parsed for its id. */
const TOO_MUCH = Symbol("too much");

function jsonIn(line: string): unknown {
  try {
    checkJsonBounds(line, "the message");
  } catch {
    return TOO_MUCH;
  }
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
