/**
 * Parser of server-sent events, by the HTML standard: lines end with LF, CR or CRLF and may be split anywhere; an empty line
 * ends an event; several `data` lines are joined; unknown fields are ignored.
 */
export interface ServerSent {
  readonly type: string;
  readonly data: string;
}

export class ServerSentReader {
  /** The id of the last event that had one, for resuming. */
  lastId: string;
  /** How long the server asks clients to wait before they reconnect. */
  retryMs: number | undefined;
  #rest = "";
  #isFirst = true;
  #type = "";
  #data: string[] = [];
  #id: string | undefined;

  constructor(lastId = "") {
    this.lastId = lastId;
  }

  /** Takes a piece of the stream and returns the events that it completes. */
  take(text: string): readonly ServerSent[] {
    const events: ServerSent[] = [];
    const lines = this.#linesWith(text);
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else if (this.#data.length > 0) events.push(this.#event());
      else this.#clear();
    }
    return events;
  }

  /** A CR at the end is kept back, because an LF may follow. */
  #linesWith(text: string): readonly string[] {
    const bare = this.#isFirst && text.startsWith("\uFEFF") ? text.slice(1) : text;
    if (text !== "") this.#isFirst = false;
    const lines = (this.#rest + bare).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines;
  }

  #field(line: string): void {
    const [name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)?.slice(1) ?? [];
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #event(): ServerSent {
    const event = { type: this.#type === "" ? "message" : this.#type, data: this.#data.join("\n") };
    this.#clear();
    return event;
  }

  #clear(): void {
    if (this.#id !== undefined) this.lastId = this.#id;
    this.#id = undefined;
    this.#type = "";
    this.#data = [];
  }
}
