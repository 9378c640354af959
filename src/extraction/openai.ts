/**
 * Extracts facts with any server that implements OpenAI's `POST {baseUrl}/chat/completions`.
 *
 * - All or nothing: an answer that is missing, refused, cut off or malformed is `extractor_failed`.
 * - Facts come from what people said: a draft whose source is not a user's message of the request is refused, whatever
 *   the model claims. So neither an assistant's recollection nor the output of a tool or a web page becomes a fact. A
 *   request is made only if there is a user's message.
 * - Bounded: a request has one page of messages, an answer 50 facts, and a call 2 retries per page, only after errors
 *   that may be temporary (429, 5xx). If the server asks for a delay of more than 10 s, the retry is left to the caller
 *   (`details.retryAfterMs`).
 * - Errors contain neither the API key nor any text of messages or answers.
 */

import { backOff } from "../back-off.js";
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

/** The options of an `OpenAiExtractor`. */
export interface OpenAiExtractorOptions {
  /** For instance https://api.openai.com/v1 or http://127.0.0.1:11434/v1. */
  readonly baseUrl: string;
  /** The model, as the server names it. */
  readonly model: string;
  /** Optional, for servers that need none. Over plain http it is sent only to this computer. */
  readonly apiKey?: string;
  /** Per request. Longer: slow models have time to answer, but a hanging server blocks its callers for longer. */
  readonly timeoutMs?: number;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock;
}

/** Totals since its creation. */
export interface ExtractorStatus {
  /** Retries and refused requests included. */
  readonly requests: number;
  /** As counted by the server; 0 if it does not count. */
  readonly inputTokens: number;
  /** As counted by the server; 0 if it does not count. */
  readonly outputTokens: number;
  /** Drafts that were accepted, and those that were refused. */
  readonly drafts: number;
  /** Drafts that were refused. */
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
/** Not every server supports these, and some models refuse any temperature; then the prompt alone has to do. */
const STRICT = { temperature: 0, response_format: { type: "json_object" } };

const CALLER = { path: "/chat/completions", name: "extractor", failed: "extractor_failed" } as const;

/** Extracts facts with any server that implements OpenAI's chat completions. */
export class OpenAiExtractor implements Extractor {
  readonly name: string;
  readonly #model: string;
  readonly #endpoint: Endpoint;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #pauses = new Interruptions();
  readonly #counts: Counts = { requests: 0, inputTokens: 0, outputTokens: 0, drafts: 0, refusedDrafts: 0 };
  #lastRefusal: string | undefined;
  /** Until the server refuses a strict request but accepts the same one without. */
  #isStrict = true;

  constructor({ baseUrl, model, apiKey, timeoutMs = TIMEOUT_MS, clock = systemClock }: OpenAiExtractorOptions) {
    if (model === "") throw new HoldfastError("config", "the extractor's model has no name", { hint: "give a model" });
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
      throw new HoldfastError("config", "the extractor's timeoutMs is not a whole number above zero", {
        hint: "omit it to use the default",
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

  /** The totals since its creation. */
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

/** The drafts that are valid and have a user's message as their source. */
function grounded(value: unknown, { messages, known }: ExtractionRequest): ParsedDrafts {
  const said = messages.filter(({ role }) => role === "user");
  const { drafts, refused } = parseDrafts(value, { messages: said, known });
  const isSaid = ({ source }: FactDraft): boolean => source !== undefined;
  const unsaid = drafts.filter((draft) => !isSaid(draft)).map(() => ({ why: "a draft has no source" }));
  return { drafts: drafts.filter(isSaid), refused: [...refused, ...unsaid] };
}

/** The delay before the next attempt; undefined if a retry is useless, or the delay too long. */
function pauseOf(error: unknown, attempt: number): number | undefined {
  const { status, code, retryAfterMs } = error instanceof HoldfastError ? error.details : {};
  const mayGetBetter = (status === 429 && code !== "insufficient_quota") || Number(status) >= 500;
  const asked = Number(retryAfterMs ?? 0);
  if (!mayGetBetter || asked > RETRY_MAX_MS) return undefined;
  return Math.max(asked, backOff(attempt, RETRY_MS, RETRY_MAX_MS));
}

function refusedBy({ shown }: Endpoint, status: number): HoldfastError {
  const hint = "check the model's name, and that its context has room for about 10,000 tokens";
  return failure(`${shown} refuses the request (status ${status})`, hint, { status });
}
