/**
 * Facts by any server that speaks OpenAI's `POST {baseUrl}/chat/completions`.
 *
 * - All or nothing: an answer that is missing, refused, cut off or not of the form that was asked for is `extractor_failed`.
 * - A fact rests on what a person said: a draft whose source is not a user's message of the request is refused, whatever the
 *   model claims. So neither what an assistant recalls, nor what a tool or a web page says, becomes a fact. Messages among
 *   which there is no user's cost no request.
 * - Bounded: a request has one page of messages, an answer 50 facts, a call 2 retries per page, and only where the server says
 *   that it may get better (429, 5xx). If it asks for more patience than 10 s, that is left to the caller
 *   (`details.retryAfterMs`).
 * - Neither the API key nor a word of messages or answers gets into an error.
 */
import { type Clock, systemClock } from "../clock.js";
import { Interruptions } from "../embedding/interruptions.js";
import { HoldfastError } from "../errors.js";
import { type Endpoint, endpointOf } from "../openai/endpoint.js";
import { post, type Reply } from "../openai/request.js";
import { Aliases } from "./aliases.js";
import { draftsOf, tokensOf } from "./answer.js";
import { type ParsedDrafts, parseDrafts } from "./drafts.js";
import type { ExtractionRequest, Extractor, FactDraft } from "./extractor.js";
import { failure } from "./failure.js";
import { type ChatMessage, promptOf } from "./prompt.js";
import { knownOf, pageOf } from "./transcript.js";

export interface OpenAiExtractorOptions {
  /** Such as https://api.openai.com/v1 or http://127.0.0.1:11434/v1. */
  readonly baseUrl: string;
  readonly model: string;
  /** Left out for servers that need none. Over plain http only this computer gets it. */
  readonly apiKey?: string;
  /** Per request. Longer: slow models get through, and a hanging server holds up its callers for as long. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

/** What it has done and cost since it was made. */
export interface ExtractorStatus {
  /** Retries and refused requests included. */
  readonly requests: number;
  /** As the server counts them; 0 if it does not. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Drafts that were passed on, and those that were not. */
  readonly drafts: number;
  readonly refusedDrafts: number;
  /** Why the last one was refused. */
  readonly lastRefusal?: string;
}

type Counts = { -readonly [Key in Exclude<keyof ExtractorStatus, "lastRefusal">]: number };

const TIMEOUT_MS = 120_000;
const RETRIES_MAX = 2;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 10_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** Not every server knows these, and some models refuse any temperature: then the prompt alone must do. */
const STRICT = { temperature: 0, response_format: { type: "json_object" } };

const CALLER = { path: "/chat/completions", name: "extractor", failed: "extractor_failed" } as const;

export class OpenAiExtractor implements Extractor {
  readonly name: string;
  readonly #model: string;
  readonly #endpoint: Endpoint;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #pauses = new Interruptions();
  readonly #counts: Counts = { requests: 0, inputTokens: 0, outputTokens: 0, drafts: 0, refusedDrafts: 0 };
  #lastRefusal: string | undefined;
  /** Until the server refuses a strict request and takes the same one without. */
  #isStrict = true;

  constructor({ baseUrl, model, apiKey, timeoutMs = TIMEOUT_MS, clock = systemClock }: OpenAiExtractorOptions) {
    if (model === "") throw new HoldfastError("config", "the extractor's model has no name", { hint: "give a model" });
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
      throw new HoldfastError("config", "the extractor's timeoutMs is not a whole number above zero", {
        hint: "leave it out for the default",
      });
    }
    this.name = `openai-compatible:${model}`;
    this.#model = model;
    this.#endpoint = endpointOf(baseUrl, apiKey, CALLER);
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  async extract({ messages, known }: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]> {
    signal.throwIfAborted();
    const shown = knownOf(known);
    const drafts: FactDraft[] = [];
    for (let rest = messages; rest.length > 0; ) {
      const page = pageOf(rest);
      rest = rest.slice(page.length);
      if (page.some(({ role }) => role === "user")) {
        drafts.push(...(await this.#read({ messages: page, known: shown }, signal)));
      }
    }
    return drafts;
  }

  status(): ExtractorStatus {
    return { ...this.#counts, ...(this.#lastRefusal !== undefined && { lastRefusal: this.#lastRefusal }) };
  }

  /** The drafts of one page. */
  async #read(page: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]> {
    const aliases = new Aliases(page);
    const answer = await this.#ask(promptOf(aliases.request), signal);
    this.#add(tokensOf(answer));
    const { drafts, refused } = grounded(draftsOf(answer), aliases.request);
    this.#add({ drafts: drafts.length, refusedDrafts: refused.length });
    this.#lastRefusal = refused.at(-1)?.why ?? this.#lastRefusal;
    return drafts.map((draft) => aliases.resolve(draft));
  }

  async #ask(messages: readonly ChatMessage[], signal: AbortSignal): Promise<unknown> {
    const body = { model: this.#model, messages };
    const isStrict = this.#isStrict;
    const reply = await this.#persist({ ...body, ...(isStrict && STRICT) }, signal);
    if (!("refused" in reply)) return reply.answer;
    const plain = isStrict ? await this.#persist(body, signal) : reply;
    if ("refused" in plain) throw refusedBy(this.#endpoint, plain.refused);
    this.#isStrict = false;
    return plain.answer;
  }

  async #persist(body: object, signal: AbortSignal): Promise<Reply> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#post(body, signal);
      } catch (error) {
        signal.throwIfAborted();
        const pauseMs = attempt < RETRIES_MAX ? pauseOf(error, attempt) : undefined;
        if (pauseMs === undefined) throw error;
        await this.#pauses.run<void>(signal, (resolve) => this.#clock.after(pauseMs, resolve));
      }
    }
  }

  async #post(body: object, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener("abort", abort);
    this.#add({ requests: 1 });
    try {
      return await post(this.#endpoint, body, {
        clock: this.#clock,
        timeoutMs: this.#timeoutMs,
        answerBytesMax: ANSWER_BYTES_MAX,
        controller,
      });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #add(more: Partial<Counts>): void {
    for (const key of Object.keys(this.#counts) as (keyof Counts)[]) this.#counts[key] += more[key] ?? 0;
  }
}

/** The drafts that can be, and rest on what a person said. */
function grounded(value: unknown, { messages, known }: ExtractionRequest): ParsedDrafts {
  const said = messages.filter(({ role }) => role === "user");
  const { drafts, refused } = parseDrafts(value, { messages: said, known });
  const isSaid = ({ source }: FactDraft): boolean => source !== undefined;
  const unsaid = drafts.filter((draft) => !isSaid(draft)).map(() => ({ why: "a draft has no source" }));
  return { drafts: drafts.filter(isSaid), refused: [...refused, ...unsaid] };
}

/** How long to wait before the next attempt; undefined if there is no use in one, or not soon enough. */
function pauseOf(error: unknown, attempt: number): number | undefined {
  const { status, code, retryAfterMs } = error instanceof HoldfastError ? error.details : {};
  const mayGetBetter = (status === 429 && code !== "insufficient_quota") || Number(status) >= 500;
  const asked = Number(retryAfterMs ?? 0);
  if (!mayGetBetter || asked > RETRY_MAX_MS) return undefined;
  return Math.max(asked, RETRY_MS * 2 ** attempt * (0.5 + Math.random() / 2));
}

function refusedBy({ shown }: Endpoint, status: number): HoldfastError {
  const hint = "check the model's name, and that its context has room for some 10,000 tokens";
  return failure(`${shown} refuses the request (status ${status})`, hint, { status });
}
