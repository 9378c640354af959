/**
 * An OpenAI-compatible embedding server on this computer, over real HTTP, that misbehaves on demand. Its vectors come
 * from the words of a text, by the HashEmbedder, not of unit length on purpose.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HashEmbedder } from "holdfast/testing";

export interface EmbeddingsRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly model: string; readonly input: readonly string[]; readonly [key: string]: unknown };
}

export interface Embedding {
  readonly index: number;
  readonly embedding: unknown;
}

/** What the server does with a request. */
export type Behaviour = (request: EmbeddingsRequest, response: ServerResponse) => void | Promise<void>;

export const DIMENSIONS = 64;
const model = new HashEmbedder({ dimensions: DIMENSIONS, tokensMax: Number.MAX_SAFE_INTEGER });

/** The embeddings of a right answer. */
export async function embeddingsOf({ body }: EmbeddingsRequest): Promise<Embedding[]> {
  const vectors = await model.embed(body.input);
  return vectors.map((vector, index) => ({ index, embedding: [...vector].map((value) => value * 3) }));
}

export class EmbeddingsServer {
  readonly requests: EmbeddingsRequest[] = [];
  /** What is done with requests for which nothing else was said. */
  usually: Behaviour = rightly;
  readonly #server: Server;
  readonly #next: Behaviour[] = [];
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<EmbeddingsServer> {
    const server = new EmbeddingsServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** What is done with the next requests, one each. */
  next(...behaviours: readonly Behaviour[]): void {
    this.#next.push(...behaviours);
  }

  /** Resolves when so many requests have come. */
  received(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as EmbeddingsRequest["body"];
    const request = { path: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body };
    this.requests.push(request);
    for (const { count, resolve } of this.#waiting) if (this.requests.length >= count) resolve();
    await (this.#next.shift() ?? this.usually)(request, response);
  }
}

/** Answers as it should. */
export const rightly: Behaviour = (request, response) => answering((embeddings) => embeddings)(request, response);

/** Answers with something else than the right embeddings. */
export function answering(change: (embeddings: Embedding[]) => readonly unknown[]): Behaviour {
  return async (request, response) => {
    const data = change(await embeddingsOf(request));
    send(response, 200, JSON.stringify({ object: "list", model: request.body.model, data }));
  };
}

/** Answers with another status, and with a body that repeats everything it was given, as servers do. */
export function failing(status: number, headers: { readonly [name: string]: string } = {}): Behaviour {
  return ({ body, headers: { authorization } }, response) => {
    const message = `refused: ${authorization} ${body.input.join(" ")}`;
    send(response, status, JSON.stringify({ error: { message, code: "some_code" } }), headers);
  };
}

/** Refuses requests with any text of which `predicate` holds. */
export function refusing(status: number, predicate: (text: string) => boolean): Behaviour {
  return (request, response) => (request.body.input.some(predicate) ? failing(status) : rightly)(request, response);
}

/** Never answers. */
export const stalling: Behaviour = () => {};

/** Begins to answer, and never ends. */
export const stallingMidway: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"data": [');
};

/** Breaks the connection off. */
export const resetting: Behaviour = (_, response) => {
  response.socket?.resetAndDestroy();
};

/** Breaks the connection off in the middle of the answer. */
export const breakingOff: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"data": [', () => response.destroy());
};

/** Answers with this text. */
export function saying(text: string): Behaviour {
  return (_, response) => send(response, 200, text);
}

/** Answers without an end, for as long as somebody listens. */
export const flooding: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const more = (): void => {
    while (!response.destroyed) if (!response.write(" ".repeat(65_536))) return;
  };
  response.on("drain", more);
  more();
};

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}
