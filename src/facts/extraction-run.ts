/**
 * Has an extractor read a session's messages, a page at a time, and records what it drafts.
 *
 * The facts of a page and the mark of how far the session was read are one commit. If the extractor fails, nothing of that
 * page is written, and it is offered again the next time: a failure loses nothing and doubles nothing.
 */
import { HoldfastError } from "../errors.js";
import { parseDrafts } from "../extraction/drafts.js";
import type { ExtractionMessage, FactDraft } from "../extraction/extractor.js";
import { pageOf } from "../extraction/transcript.js";
import { parseInteger } from "../input/integer.js";
import { objectWith, wrongType } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import { OneByOne } from "../one-by-one.js";
import type { Fact, PutFactWrite } from "../stores/facts.js";
import type { Unit } from "../stores/store.js";
import type { Item } from "../types.js";
import { parseFact } from "./fact-input.js";
import { factLane, type MemoryFactsParts } from "./memory-facts.js";

export interface ExtractOptions {
  /** Read at most so many messages now, 1 to 10000; all that are new if left out. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface Extraction {
  /** How many messages were read. */
  readonly messages: number;
  /** The facts that were recorded or known already; those that stay retracted are not among them. */
  readonly facts: readonly Fact[];
  /** Drafts that were not taken, each with the reason. */
  readonly refused: readonly { readonly why: string }[];
}

const MESSAGES_MAX = 10_000;
/** Messages read from the store at a time; a page for the extractor is part of them. */
const READ = 200;
/** Facts shown to the extractor, newest first, so that it can name those that no longer hold. */
const KNOWN = 200;
const KEYS: ReadonlySet<string> = new Set(["limit", "signal"]);

type Place = ParsedScope & { readonly session: string };

export class ExtractionRun {
  readonly #parts: MemoryFactsParts;
  readonly #sessions = new OneByOne();

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
      throw new HoldfastError("invalid_input", "the scope names no session to read", {
        hint: "facts are extracted per session",
      });
    }
    const given = signal ?? new AbortController().signal;
    return this.#sessions.run(factLane(place.space) + session, () => this.#readAll({ ...place, session }, most, given));
  }

  async #readAll(place: Place, most: number, signal: AbortSignal): Promise<Extraction> {
    const unread = (await this.#unread(place)).slice(0, most);
    const facts: Fact[] = [];
    const refused: { readonly why: string }[] = [];
    for (let at = 0; at < unread.length; ) {
      const ahead = unread.slice(at, at + READ);
      const page = ahead.slice(0, pageOf(ahead.map(messageOf)).length);
      const read = await this.#readPage(place, page, signal);
      facts.push(...read.facts);
      refused.push(...read.refused);
      at += page.length;
    }
    return { messages: unread.length, facts, refused };
  }

  /** The messages after those that were read before, oldest first. Found from the newest on: they are mostly few. */
  async #unread({ space, session }: Place): Promise<readonly Item[]> {
    const { store, now } = this.#parts;
    const after = await store.extracted(space, session);
    const unread: Item[] = [];
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
      unread.push(...fresh);
      cursor = page.next;
      if (cursor === undefined || fresh.length < page.items.length) return unread.reverse();
    }
  }

  async #readPage(place: Place, page: readonly Item[], signal: AbortSignal) {
    const { extractor, store, now } = this.#parts;
    if (!extractor) {
      throw new HoldfastError("unsupported", "this memory has no extractor", {
        hint: "give one to openMemory: extractor: new OpenAiExtractor({ baseUrl, model })",
      });
    }
    const known = (await store.facts({ spaces: [place.space], limit: KNOWN, now: now() })).items;
    const request = { messages: page.map(messageOf), known: known.toReversed() };
    const { drafts, refused } = parseDrafts(await extractor.extract(request, signal), request);
    const writes = drafts.map((draft) => this.#writeOf(place, draft));
    const upTo = page.at(-1)?.sequence ?? 0;
    const unit: Unit = [...writes, { op: "extracted", space: place.space, session: place.session, upTo }];
    const done = await this.#parts.write(factLane(place.space), unit);
    if (writes.length > 0) await this.#parts.changed(place.space);
    const facts = done.flatMap((one) => (one.op === "put_fact" && one.outcome !== "retracted" ? [one.fact] : []));
    return { facts, refused };
  }

  #writeOf(place: ParsedScope, { category, content, confidence, source, supersedes }: FactDraft): PutFactWrite {
    const fact = {
      category,
      content,
      confidence,
      ...(source !== undefined && { source: { message: source } }),
      ...(supersedes && { supersedes }),
    };
    return parseFact(place, fact, this.#parts.now());
  }
}

function messageOf({ id, role = "user", name, content, occurredAt }: Item): ExtractionMessage {
  return { id, role, ...(name !== undefined && { name }), content, occurredAt };
}
