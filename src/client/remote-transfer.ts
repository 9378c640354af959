/** Export and import over HTTP, with at most one page of lines in memory. */
import { invalid, parseChoice } from "../input/refusal.js";
import { parseScope, parseSpace } from "../input/scope.js";
import type { ImportReport, OnConflict } from "../transfer/report.js";
import type { Scope, SpaceRef } from "../types.js";
import { addressOf, type Target } from "./address.js";
import { readAnswer } from "./answer.js";
import { noResponse, send, unreachable } from "./exchange.js";
import { readStream, StreamBroken } from "./text-stream.js";
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
  /** Stops the import. What it wrote until then stays. */
  readonly signal?: AbortSignal;
}

const NDJSON = "application/x-ndjson";
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
      for await (const line of linesOf(reading, scope, cursor)) {
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

async function* linesOf(transport: Transport, scope: Scope | undefined, cursor: string | undefined) {
  let rest = "";
  const silenceMs = transport.endpoint.timeoutMs;
  for await (const text of readStream(transport, "export", { scope, query: { cursor }, accept: NDJSON, silenceMs })) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
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
  lines: Iterable<string> | AsyncIterable<string>,
  options: RemoteImportOptions,
): Promise<ImportReport> {
  const { signal } = options;
  const sending = transport.under(signal);
  const { endpoint, signals } = sending;
  const address = addressOf("import", importTarget(options));
  const isWhole = Symbol.iterator in lines || !canStream();
  const body = isWhole ? new Blob(await whole(lines)) : streamOf(lines as AsyncIterable<string>);
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

/** The query string has one scope; the parameter `into` says what it is for. */
function importTarget({ scope, into, onConflict }: RemoteImportOptions): Target {
  if (scope !== undefined) parseScope(scope, "options.scope");
  if (onConflict !== undefined) parseChoice(onConflict, ON_CONFLICT, "options.onConflict");
  if (into === undefined) return { scope, query: { onConflict } };
  if (scope !== undefined) {
    throw invalid(
      "options.into",
      "cannot be given with a scope",
      "an export needs no scope, and plain messages no `into`",
    );
  }
  return { scope: { ...parseSpace(into, "options.into") }, query: { onConflict, into: "scope" } };
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
