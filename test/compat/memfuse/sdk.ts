/**
 * MemFuse's Python SDK, re-enacted: the same requests in the same order, down to the bytes of their request lines. It
 * calls /health before each call, writes names into URLs unescaped, sends null for absent arguments, bodies with
 * DELETE, and reads every answer as JSON. `requests` (the synchronous client) encodes a space as %20, `aiohttp` (the
 * other one) as a plus.
 */
import { Agent, request } from "node:http";
import { checkAnswer, type DataOf, type DialectName, type Envelope } from "./dialect.js";

export class MemFuseHTTPError extends Error {
  readonly statusCode: number;
  readonly response: Envelope;

  constructor(response: Envelope, statusCode: number) {
    super(`API request failed: ${response.message}`);
    this.statusCode = statusCode;
    this.response = response;
  }
}

export interface Line {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

type Message = { readonly role: string; readonly content: string };
type Body = { readonly [key: string]: unknown };
export type Library = "requests" | "aiohttp";

/** One connection after the other, as a session of `requests` keeps it. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export class MemFuse {
  /** The requests sent, without health checks. */
  readonly sent: Line[] = [];
  healthChecks = 0;
  readonly #url: string;
  readonly #key: string | undefined;
  readonly #library: Library;

  constructor(url: string, { key, library = "requests" }: { key?: string; library?: Library } = {}) {
    this.#url = url;
    this.#key = key;
    this.#library = library;
  }

  async init(user: string, agentName = "agent_default", session?: string): Promise<Memory> {
    const userId = await this.#user(user);
    const agentId = await this.#agent(agentName);
    const entry = await this.#session(userId, agentId, session);
    return new Memory(this, { user: userId, agent: agentId, session: entry.id }, session ?? entry.name);
  }

  async #user(name: string): Promise<string> {
    const found = await unless404(this.request<"memfuseListUsers">("GET", `/api/v1/users?name=${name}`));
    if (found) return first(found.data.users).id;
    const description = "User created by MemFuse client";
    return (await this.request<"memfuseCreateUser">("POST", "/api/v1/users", { name, description })).data.user.id;
  }

  async #agent(name: string): Promise<string> {
    const found = await unless404(this.request<"memfuseListAgents">("GET", `/api/v1/agents?name=${name}`));
    if (found) return first(found.data.agents).id;
    const description = "Agent created by MemFuse client";
    return (await this.request<"memfuseCreateAgent">("POST", "/api/v1/agents", { name, description })).data.agent.id;
  }

  async #session(user_id: string, agent_id: string, name?: string): Promise<{ id: string; name: string }> {
    if (name !== undefined) {
      const path = `/api/v1/sessions?name=${name}&user_id=${user_id}`;
      const found = await unless404(this.request<"memfuseListSessions">("GET", path));
      if (found) return first(found.data.sessions);
    }
    const body = { user_id, agent_id, name: name ?? null };
    return (await this.request<"memfuseCreateSession">("POST", "/api/v1/sessions", body)).data.session;
  }

  /** Every answer is checked against its operation. */
  async request<Name extends DialectName>(
    method: string,
    endpoint: string,
    data?: Body,
  ): Promise<Envelope<DataOf<Name>>> {
    const health = await this.#send("GET", "/api/v1/health");
    this.healthChecks++;
    if (health.status !== 200) throw new Error("Cannot connect to MemFuse server");
    const { status, json } = await this.#send(method, endpoint, data);
    this.sent.push({ method, path: endpoint, status });
    if (status >= 400) throw new MemFuseHTTPError(json, status);
    return json as Envelope<DataOf<Name>>;
  }

  #send(method: string, endpoint: string, data?: Body): Promise<{ readonly status: number; readonly json: Envelope }> {
    const path = this.#library === "requests" ? encodeURI(endpoint) : encodeURI(endpoint).replaceAll("%20", "+");
    const body = data === undefined ? undefined : JSON.stringify(data);
    return new Promise((resolve, reject) => {
      const call = request(`${this.#url}`, {
        method,
        path,
        agent,
        headers: {
          ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
          ...(body !== undefined && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
        },
      });
      call.on("error", reject);
      call.on("response", async (response) => {
        try {
          let text = "";
          for await (const chunk of response.setEncoding("utf8")) text += chunk;
          const json = JSON.parse(text) as Envelope;
          checkAnswer(method, path, response.statusCode ?? 0, json);
          resolve({ status: response.statusCode ?? 0, json });
        } catch (error) {
          reject(error);
        }
      });
      call.end(body);
    });
  }
}

/** Undefined if the answer was 404: then it creates. */
async function unless404<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof MemFuseHTTPError && error.statusCode === 404) return undefined;
    throw error;
  }
}

/** Python's `[0]`. */
function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error("list index out of range");
  return one;
}

export class Memory {
  readonly ids: { readonly user: string; readonly agent: string; readonly session: string };
  readonly session: string;
  readonly #client: MemFuse;

  constructor(client: MemFuse, ids: Memory["ids"], session: string) {
    this.#client = client;
    this.ids = ids;
    this.session = session;
  }

  add(messages: readonly Message[]) {
    return this.#client.request<"memfuseAddMessages">("POST", this.#messages, { messages });
  }

  /** As in its doc strings: 20, timestamp, desc. */
  list(limit = 20, sortBy = "timestamp", order = "desc", bufferOnly?: boolean) {
    const only = bufferOnly === undefined ? "" : `&buffer_only=${bufferOnly}`;
    return this.#client.request<"memfuseListMessages">(
      "GET",
      `${this.#messages}?limit=${limit}&sort_by=${sortBy}&order=${order}${only}`,
    );
  }

  read(message_ids: readonly string[]) {
    return this.#client.request<"memfuseReadMessages">("POST", `${this.#messages}/read`, { message_ids });
  }

  update(message_ids: readonly string[], new_messages: readonly Message[]) {
    return this.#client.request<"memfuseUpdateMessages">("PUT", this.#messages, { message_ids, new_messages });
  }

  delete(message_ids: readonly string[]) {
    return this.#client.request<"memfuseDeleteMessages">("DELETE", this.#messages, { message_ids });
  }

  query(query: string, options: Body = {}) {
    return this.#client.request<"memfuseQuery">("POST", `/api/v1/users/${this.ids.user}/query`, {
      query,
      session_id: null,
      agent_id: null,
      top_k: 5,
      store_type: null,
      include_messages: true,
      include_knowledge: true,
      ...options,
    });
  }

  querySession(query: string, options: Body = {}) {
    return this.query(query, { session_id: this.ids.session, agent_id: this.ids.agent, ...options });
  }

  addKnowledge(knowledge: readonly string[]) {
    return this.#client.request<"memfuseAddKnowledge">("POST", this.#knowledge, { knowledge });
  }

  listKnowledge() {
    return this.#client.request<"memfuseListKnowledge">("GET", this.#knowledge);
  }

  readKnowledge(knowledge_ids: readonly string[]) {
    return this.#client.request<"memfuseReadKnowledge">("POST", `${this.#knowledge}/read`, { knowledge_ids });
  }

  updateKnowledge(knowledge_ids: readonly string[], new_knowledge: readonly string[]) {
    return this.#client.request<"memfuseUpdateKnowledge">("PUT", this.#knowledge, { knowledge_ids, new_knowledge });
  }

  deleteKnowledge(knowledge_ids: readonly string[]) {
    return this.#client.request<"memfuseDeleteKnowledge">("DELETE", this.#knowledge, { knowledge_ids });
  }

  get #messages(): string {
    return `/api/v1/sessions/${this.ids.session}/messages`;
  }

  get #knowledge(): string {
    return `/api/v1/users/${this.ids.user}/knowledge`;
  }
}
