/**
 * Runs an extractor over a session's messages, page by page, and records the facts that it drafts.
 *
 * The facts of a page and the session's read position are written in one commit. If the extractor fails, nothing of the
 * page is written, and the same messages are offered next time, so a failure neither loses nor duplicates facts. The
 * same holds for concurrent readers: a reader that finds the position moved writes nothing of that page.
 */
import { HoldfastError } from "../errors.js";
import { parseDrafts } from "../extraction/drafts.js";
import type { ExtractionMessage, ExtractionRequest, Extractor, FactDraft } from "../extraction/extractor.js";
import { pageOf } from "../extraction/transcript.js";
import { parseInteger } from "../input/integer.js";
import { RESULTS_MAX } from "../input/limits.js";
import { objectWith, wrongType } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import { KeyedMutex } from "../keyed-mutex.js";
import { laneKey } from "../space-key.js";
import type { Fact, PutFactWrite } from "../stores/facts.js";
import type { Item, SpaceRef } from "../types.js";
import { parseFact } from "./fact-input.js";
import { factLane, type MemoryFactsParts } from "./memory-facts.js";

/** The options of `facts.extract`. */
export interface ExtractOptions {
  /** The maximal number of messages to read now, 1 to 10000; all new ones by default. */
  readonly limit?: number;
  /** Stops the extraction. What it recorded until then stays. */
  readonly signal?: AbortSignal;
}

/** What one extraction read and recorded. */
export interface Extraction {
  /** The number of messages read. */
  readonly messages: number;
  /** The facts that were recorded or already known, without those that stay retracted. */
  readonly facts: readonly Fact[];
  /** Drafts that were refused, each with the reason. */
  readonly refused: readonly { readonly why: string }[];
}

const MESSAGES_MAX = 10_000;
/** Messages read from the store at a time. The extractor gets a page of them. */
const READ = 200;
/** Facts shown to the extractor, newest first, so that it can name those that no longer hold. */
const KNOWN = 200;
const KEYS: ReadonlySet<string> = new Set(["limit", "signal"]);

type SessionScope = ParsedScope & { readonly session: string };

/** Unread messages, and the sequence number before them. */
interface Unread {
  readonly after: number;
  readonly messages: readonly Item[];
}

export class ExtractionRun {
  readonly #parts: MemoryFactsParts;
  readonly #sessions = new KeyedMutex();

  constructor(parts: MemoryFactsParts) {
    this.#parts = parts;
  }

  async run(place: ParsedScope, options: ExtractOptions): Promise<Extraction> {
    const { limit, signal } = objectWith(options, KEYS, "options");
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw wrongType("options.signal", "an AbortSignal", signal);
    }
    const most = limit === undefined ? MESSAGES_MAX : parseInteger(limit, "options.limit", 1, MESSAGES_MAX);
    const { session } = place;
    if (session === undefined) {
      throw new HoldfastError("invalid_input", "the scope has no session to read", {
        hint: "facts are extracted per session",
      });
    }
    const given = signal ?? new AbortController().signal;
    const extractor = this.#extractor();
    return this.#sessions.run(laneKey(place), () => this.#readAll({ ...place, session }, most, extractor, given));
  }

  #extractor(): Extractor {
    const { extractor } = this.#parts;
    if (extractor) return extractor;
    throw new HoldfastError("unsupported", "this memory has no extractor", {
      hint: "set extraction.baseUrl and extraction.model, or pass an extractor to openMemory",
    });
  }

  async #readAll(place: SessionScope, most: number, extractor: Extractor, signal: AbortSignal): Promise<Extraction> {
    const facts: Fact[] = [];
    const refused: { readonly why: string }[] = [];
    let messages = 0;
    for (let unread = await this.#unread(place, most); unread.messages.length > 0; ) {
      const ahead = unread.messages.slice(0, READ);
      const page = ahead.slice(0, pageOf(ahead.map(messageOf)).length);
      const read = await this.#readPage(place, { after: unread.after, messages: page }, extractor, signal);
      if (!read) {
        unread = await this.#unread(place, most - messages);
        continue;
      }
      facts.push(...read.facts);
      refused.push(...read.refused);
      messages += page.length;
      unread = { after: read.upTo, messages: unread.messages.slice(page.length) };
    }
    return { messages, facts, refused };
  }

  /** The unread messages, oldest first. Searched from the newest back, because there are usually few. */
  async #unread({ space, session }: SessionScope, most: number): Promise<Unread> {
    const { store, now } = this.#parts;
    const after = await store.extracted(space, session);
    const messages: Item[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.list({
        spaces: [space],
        filter: { sessions: [session], kinds: ["message"] },
        sortBy: "arrival",
        order: "desc",
        limit: READ,
        ...(cursor !== undefined && { cursor }),
        now: now(),
      });
      const fresh = page.items.filter(({ sequence = 0 }) => sequence > after);
      messages.push(...fresh);
      cursor = page.next;
      if (cursor !== undefined && fresh.length === page.items.length) continue;
      return { after, messages: messages.reverse().slice(0, most) };
    }
  }

  /** Undefined if another process has read the session meanwhile: its facts may have changed, so nothing is written. */
  async #readPage(place: SessionScope, { after, messages }: Unread, extractor: Extractor, signal: AbortSignal) {
    signal.throwIfAborted();
    const request = { messages: messages.map(messageOf), known: await this.#known(place.space) };
    const { drafts, refused } = parseDrafts(await draftsOf(extractor, request, signal), request);
    const writes = drafts.map((draft) => this.#writeOf(place, draft, request.messages));
    const upTo = messages.at(-1)?.sequence ?? after;
    const mark = { op: "extracted", space: place.space, session: place.session, upTo, after } as const;
    try {
      const done = await this.#parts.write(factLane(place.space), [mark, ...writes]);
      if (writes.length > 0) await this.#parts.changed(place.space);
      const facts = done.flatMap((one) => (one.op === "put_fact" && one.outcome !== "retracted" ? [one.fact] : []));
      return { facts, refused, upTo };
    } catch (error) {
      if (isOvertaken(error)) return undefined;
      throw error;
    }
  }

  /** The newest facts that hold, newest first. The store returns them oldest first. */
  async #known(space: SpaceRef): Promise<readonly Fact[]> {
    let newest: readonly Fact[] = [];
    for (let cursor: string | undefined; ; ) {
      const request = { spaces: [space], limit: RESULTS_MAX, now: this.#parts.now() };
      const page = await this.#parts.store.facts({ ...request, ...(cursor !== undefined && { cursor }) });
      newest = [...newest, ...page.items].slice(-KNOWN);
      cursor = page.next;
      if (cursor === undefined) return newest.toReversed();
    }
  }

  /** A fact holds from the time it was said. */
  #writeOf(place: ParsedScope, draft: FactDraft, messages: readonly ExtractionMessage[]): PutFactWrite {
    const { category, content, confidence, source, supersedes } = draft;
    const now = this.#parts.now();
    const saidAt = messages.find(({ id }) => id === source)?.occurredAt ?? now;
    const fact = {
      category,
      content,
      confidence,
      validFrom: Math.min(saidAt, now),
      ...(source !== undefined && { source: { message: source } }),
      ...(supersedes && { supersedes }),
    };
    return parseFact(place, fact, now);
  }
}

/** The extractor's list of drafts; anything else is a failure. A foreign error is kept as the cause. */
async function draftsOf(extractor: Extractor, request: ExtractionRequest, signal: AbortSignal): Promise<unknown> {
  try {
    const drafts: unknown = await extractor.extract(request, signal);
    if (Array.isArray(drafts)) return drafts;
  } catch (error) {
    if (error instanceof HoldfastError || signal.aborted) throw error;
    throw failed("the extractor failed", error);
  }
  throw failed("the extractor did not answer with a list of drafts");
}

const isOvertaken = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === "conflict" && "extracted" in error.details;

const failed = (message: string, cause?: unknown): HoldfastError =>
  new HoldfastError("extractor_failed", message, {
    hint: "nothing of this page was written; the same messages are offered again",
    ...(cause !== undefined && { cause }),
  });

function messageOf({ id, role = "user", name, content, occurredAt }: Item): ExtractionMessage {
  return { id, role, ...(name !== undefined && { name }), content, occurredAt };
}
