/** Export and import over HTTP, with at most one page of lines in memory. */
import { newId } from "../ids.js";
import { invalid, parseChoice } from "../input/refusal.js";
import { parseScope, parseSpace } from "../input/scope.js";
import type { ImportReport, OnConflict } from "../transfer/report.js";
import type { Scope, SpaceRef } from "../types.js";
import { type Address, addressOf, type Target } from "./address.js";
import { readAnswer } from "./answer.js";
import { noResponse, send, unreachable } from "./exchange.js";
import { NDJSON, readLines, StreamBroken } from "./text-stream.js";
import { LinkedAbort, pause, waitOf } from "./timers.js";
import type { Transport } from "./transport.js";

/** What to export. */
export interface RemoteExportOptions {
  /** A space or a session. Default: everything, for admins. */
  readonly scope?: Scope;
  /** Resumes after the line with this cursor. */
  readonly cursor?: string;
  /** Stops the export. */
  readonly signal?: AbortSignal;
}

/** How to import. */
export interface RemoteImportOptions {
  /** Where plain messages go. */
  readonly scope?: Scope;
  /** Imports the contents of the single space of the lines into this one. Replaces `scope`. */
  readonly into?: SpaceRef;
  /** stop: the first item, block or fact that exists with other content ends the import (default) · skip: continues. */
  readonly onConflict?: OnConflict;
  /** Called from time to time with what the server has read and written so far. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Stops the import. What it wrote until then stays. */
  readonly signal?: AbortSignal;
}

/** How far an import is. */
export interface ImportProgress extends ImportReport {
  /** Bytes of the lines that the server has read. */
  readonly bytes: number;
}

/** How often the server is asked for the progress of an import. */
const ASK_MS = 250;
const ON_CONFLICT = ["stop", "skip"] as const;

/**
 * The lines of an export. Lines up to a cursor are yielded together, so that an interrupted export resumes at the last
 * cursor without repeating a line. It ends with the line of type end, or fails.
 */
export async function* remoteExport(
  transport: Transport,
  { scope, cursor: start, signal }: RemoteExportOptions,
): AsyncGenerator<string, void, void> {
  if (scope !== undefined) parseScope(scope, "options.scope");
  const reading = transport.under(signal);
  const { clock, retries } = transport.endpoint;
  let cursor = start;
  for (let tries = 0; ; tries++) {
    const held: string[] = [];
    let failure: StreamBroken | undefined;
    try {
      const request = { scope, query: { cursor }, silenceMs: reading.endpoint.timeoutMs };
      for await (const line of readLines(reading, "export", request)) {
        held.push(line);
        const mark = markIn(line);
        if (!mark) continue;
        yield* held.splice(0);
        if (mark.type === "end") return;
        cursor = mark.cursor;
        tries = 0;
      }
    } catch (error) {
      if (!(error instanceof StreamBroken)) throw error;
      failure = error;
    }
    const waitMs =
      tries < retries && failure?.failure.effect !== "final" ? waitOf(tries, failure?.failure.retryAfterMs) : undefined;
    if (waitMs === undefined) throw failure?.failure.error ?? unreachable(transport.endpoint);
    await pause(clock, waitMs, [...reading.signals, reading.closing]);
  }
}

type Mark = { readonly type: "cursor"; readonly cursor: string } | { readonly type: "end" };

/** Parses the line if it is a cursor or the end. Other lines are not parsed. */
function markIn(line: string): Mark | undefined {
  if (!/^\{"type":"(?:cursor|end)"/.test(line)) return undefined;
  return JSON.parse(line) as Mark;
}

/**
 * Imports lines of an export, or plain messages. An array of lines is sent as one body, and sent again if the response does
 * not arrive: an import adds nothing twice. Lines from an iterator are streamed where the runtime supports that.
 */
export async function remoteImport(
  transport: Transport,
  lines: Blob | Iterable<string> | AsyncIterable<string>,
  { onProgress, ...options }: RemoteImportOptions,
): Promise<ImportReport> {
  const { signal } = options;
  const sending = transport.under(signal);
  const id = onProgress && newId(sending.endpoint.clock.now());
  const address = addressOf("import", importTarget(options, id));
  const body = await bodyOf(lines);
  const stopAsking = id === undefined ? undefined : askFor(sending, id, onProgress);
  try {
    return await sendLines(sending, address, body);
  } finally {
    stopAsking?.();
  }
}

/** A whole body can be sent again. */
async function bodyOf(
  lines: Blob | Iterable<string> | AsyncIterable<string>,
): Promise<Blob | ReadableStream<Uint8Array>> {
  if (lines instanceof Blob) return lines;
  if (Symbol.iterator in lines || !canStream()) return new Blob(await whole(lines));
  return streamOf(lines);
}

async function sendLines(
  sending: Transport,
  address: Address,
  body: Blob | ReadableStream<Uint8Array>,
): Promise<ImportReport> {
  const { endpoint, signals } = sending;
  const isWhole = body instanceof Blob;
  for (let tries = 0; ; tries++) {
    sending.closing.throwIfAborted();
    const abort = new LinkedAbort(signals);
    const outcome = await send(endpoint, address, { headers: { "content-type": NDJSON }, body }, abort)
      .then((response) => readAnswer<ImportReport>(response, endpoint))
      .catch((error: unknown) => noResponse(endpoint, abort, signals, error))
      .finally(() => abort.release());
    if ("data" in outcome) return outcome.data;
    const mayRepeat = isWhole && outcome.effect !== "final" && tries < endpoint.retries;
    const waitMs = mayRepeat ? waitOf(tries, outcome.retryAfterMs) : undefined;
    if (waitMs === undefined) throw outcome.error;
    await pause(endpoint.clock, waitMs, [...signals, sending.closing]);
  }
}

/** Asks for the progress until the returned function is called. A question that fails is asked again. */
function askFor(sending: Transport, id: string, tell: ((progress: ImportProgress) => void) | undefined): () => void {
  const { clock } = sending.endpoint;
  let isOver = false;
  let cancel = (): void => {};
  const ask = (): void => {
    cancel = clock.after(ASK_MS, () => {
      sending
        .call("imports")
        .then(
          ({ imports }) => imports.find((one) => one.id === id),
          () => undefined,
        )
        .then((found) => {
          if (isOver) return;
          if (found) tell?.(found as unknown as ImportProgress);
          ask();
        });
    });
  };
  ask();
  return () => {
    isOver = true;
    cancel();
  };
}

/** The query string has one scope; the parameter `into` says what it is for. */
function importTarget({ scope, into, onConflict }: RemoteImportOptions, id: string | undefined): Target {
  if (scope !== undefined) parseScope(scope, "options.scope");
  if (onConflict !== undefined) parseChoice(onConflict, ON_CONFLICT, "options.onConflict");
  if (into === undefined) return { scope, query: { onConflict, id } };
  if (scope !== undefined) {
    throw invalid(
      "options.into",
      "cannot be given with a scope",
      "an export needs no scope, and plain messages no `into`",
    );
  }
  return { scope: { ...parseSpace(into, "options.into") }, query: { onConflict, into: "scope", id } };
}

async function whole(lines: Iterable<string> | AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = [];
  for await (const line of lines) parts.push(sentLine(line));
  return parts;
}

/** Escapes lone surrogates, which UTF-8 cannot represent: unescaped they would become U+FFFD, in names too. */
const sentLine = (line: string): string =>
  `${line.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)}\n`;

function streamOf(lines: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = lines[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(sentLine(value)));
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
}

/** A runtime that cannot stream a body ignores `duplex` and turns the body into text. Browsers cannot, over HTTP/1. */
function canStream(): boolean {
  if ("document" in globalThis) return false;
  let isAsked = false;
  const init = {
    method: "POST",
    body: new ReadableStream(),
    get duplex() {
      isAsked = true;
      return "half" as const;
    },
  };
  const hasType = new Request("http://localhost/", init).headers.has("content-type");
  return isAsked && !hasType;
}
