/** Wire: a transport that others may look at: what comes in, and that it has ended. */
import type { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

type Transport = Pick<StdioServerTransport, "start" | "send" | "close" | "onclose" | "onerror" | "onmessage">;
type Message = Parameters<NonNullable<Transport["onmessage"]>>[0];

export class Wire implements Transport {
  readonly #inner: Transport;
  /** Resolves when the other side has gone, or this one has closed. */
  readonly ended: Promise<void>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: Message) => void;

  /** `seen` is told of each request before it is answered; what it waits for, the request waits for. */
  constructor(inner: Transport, seen: (method: string) => Promise<void> | undefined) {
    this.#inner = inner;
    this.ended = new Promise((resolve) => {
      inner.onclose = () => {
        this.onclose?.();
        resolve();
      };
    });
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message) => {
      const waiting = "method" in message ? seen(message.method) : undefined;
      if (waiting) void waiting.then(() => this.onmessage?.(message));
      else this.onmessage?.(message);
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: Message): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
