/** Server-sent events, one by one. */
export interface ServerEvent {
  readonly type: string;
  readonly data: { readonly [key: string]: unknown };
}

export class EventReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("the response has no body");
    this.#chunks = response.body[Symbol.asyncIterator]();
  }

  /** The next event, or "alive" for a heartbeat; undefined when the stream has ended. */
  async next(): Promise<ServerEvent | "alive" | undefined> {
    for (;;) {
      const end = this.#rest.indexOf("\n\n");
      if (end >= 0) {
        const text = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 2);
        if (text.startsWith(":")) return "alive";
        if (text.startsWith("event: ")) return parse(text);
        continue; // how long to wait before coming again
      }
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function parse(text: string): ServerEvent {
  const [, type = "", data = ""] = /^event: (\S+)\ndata: (.*)$/s.exec(text) ?? [];
  return { type, data: JSON.parse(data) as ServerEvent["data"] };
}
