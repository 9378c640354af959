/**
 * An OpenAI-compatible chat server on this computer, over real HTTP, that misbehaves on demand. It is the embedding
 * server with other answers. By default it finds no facts.
 */
import type { ServerResponse } from "node:http";
import { type Behaviour, EmbeddingsServer, type EmbeddingsRequest as JsonRequest } from "./embeddings-server.js";

export {
  type Behaviour,
  breakingOff,
  flooding,
  resetting,
  saying,
  stalling,
  stallingMidway,
} from "./embeddings-server.js";
export type ChatServer = EmbeddingsServer;

export interface Prompt {
  readonly system: string;
  readonly user: string;
  /** What stands between the tags, each line parsed. */
  readonly known: readonly { readonly [key: string]: unknown }[];
  readonly messages: readonly { readonly [key: string]: unknown }[];
}

export async function startChatServer(): Promise<ChatServer> {
  const server = await EmbeddingsServer.start();
  server.usually = noting();
  return server;
}

/** Reads a prompt as strictly as it is meant to be written. */
export function promptIn(request: JsonRequest | undefined): Prompt {
  if (!request) throw new Error("there was no such request");
  const [system, user, ...more] = request.body["messages"] as { readonly role: string; readonly content: string }[];
  if (system?.role !== "system" || user?.role !== "user" || more.length > 0) throw new Error("not the usual prompt");
  const [, known = "", messages = ""] =
    /^<known>\n([^<]*)<\/known>\n\n<messages>\n([^<]*)<\/messages>\n\n[^<]*$/.exec(user.content) ?? [];
  if (messages === "") throw new Error("the fence is broken");
  const parse = (lines: string): Prompt["known"] =>
    lines
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { system: system.content, user: user.content, known: parse(known), messages: parse(messages) };
}

/** Answers that these are the facts. */
export function noting(...facts: readonly unknown[]): Behaviour {
  return answeringText(JSON.stringify({ facts }));
}

/** Answers with this text of the model's. */
export function answeringText(content: unknown): Behaviour {
  return completing({ finish_reason: "stop", message: { role: "assistant", content } });
}

/** Answers with this as its only choice. */
export function completing(choice: unknown): Behaviour {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  return (_, response) => send(response, 200, JSON.stringify({ object: "chat.completion", choices: [choice], usage }));
}

/** Answers with another status, and with a body that repeats everything it was given, as servers do. */
export function failing(
  status: number,
  headers: { readonly [name: string]: string } = {},
  code = "some_code",
): Behaviour {
  return ({ body, headers: { authorization } }, response) => {
    const message = `refused: ${authorization} ${JSON.stringify(body)}`;
    send(response, status, JSON.stringify({ error: { message, code } }), headers);
  };
}

/** A proxy's page, which knows nothing of JSON. */
export function failingInHtml(status: number): Behaviour {
  return ({ body }, response) => {
    send(response, status, `<html><body>Bad gateway ${JSON.stringify(body)}</body></html>`, {
      "content-type": "text/html",
    });
  };
}

/** Refuses requests of which the predicate holds. */
export function refusing(status: number, predicate: (body: JsonRequest["body"]) => boolean): Behaviour {
  return (request, response) => (predicate(request.body) ? failing(status) : noting())(request, response);
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}
