/** HTTP by hand, for requests that fetch is too polite to send. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** One connection. What is sent goes out as it is. */
export class Wire {
  readonly #socket: Socket;
  #text = "";
  #isOver = false;
  #wake = (): void => {};

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setEncoding("utf8");
    this.#socket.on("data", (text: string) => {
      this.#text += text;
      this.#wake();
    });
    const end = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    this.#socket.on("close", end);
    this.#socket.on("error", end); // a server that is sent too much may reset the connection
  }

  send(text: string | Uint8Array): void {
    this.#socket.write(text);
  }

  /** The next answer on this connection. Rejects if the server closes it without one. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const head = this.#text.indexOf("\r\n\r\n");
      if (head >= 0) {
        const length = Number(/^content-length: (\d+)/im.exec(this.#text.slice(0, head))?.[1] ?? 0);
        const bytes = Buffer.from(this.#text.slice(head + 4));
        if (bytes.length >= length) return this.#taken(head, bytes, length);
      }
      if (this.#isOver) throw new Error(`the server closed the connection after ${this.#text.length} characters`);
      await this.#more();
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#isOver) await this.#more();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #taken(head: number, bytes: Buffer, length: number): RawAnswer {
    const text = this.#text.slice(0, head);
    this.#text = bytes.subarray(length).toString();
    return { status: Number(text.slice(9, 12)), head: text, body: bytes.subarray(0, length).toString() };
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The head of a request, and its body if there is one. */
export function rawRequest(
  { route, host, headers = {} }: { route: string; host: string; headers?: { readonly [name: string]: string } },
  body = "",
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${route} HTTP/1.1\r\nHost: ${host}\r\n${lines.join("")}\r\n${body}`;
}
