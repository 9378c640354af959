/** Export and import over HTTP, in lines, holding no more than a page of them. */
import { parseChoice } from "../input/choice.js";
import { invalid } from "../input/refusal.js";
import { parseScope, parseSpace } from "../input/scope.js";
import type { ImportReport, OnConflict } from "../transfer/report.js";
import type { Scope, SpaceRef } from "../types.js";
import { addressOf, type Target } from "./address.js";
import { readAnswer } from "./answer.js";
import { lost, send, unreachable } from "./exchange.js";
import { Cut, readStream } from "./text-stream.js";
import { Guard, pause, waitOf } from "./timers.js";
import type { Transport } from "./transport.js";

export interface RemoteExportOptions {
  /** Its space, or its session; everything, for admins, if left out. */
  readonly scope?: Scope;
  /** Goes on after the line with this cursor. */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

export interface RemoteImportOptions {
  /** Where plain messages go. */
  readonly scope?: Scope;
  /** Puts all that one space of the lines holds into this one, in place of `scope`. */
  readonly into?: SpaceRef;
  /** stop: the first item, block or fact that is there with other content ends the import (the default) · skip: goes on. */
  readonly onConflict?: OnConflict;
  readonly signal?: AbortSignal;
}

const NDJSON = "application/x-ndjson";
const ON_CONFLICT = ["stop", "skip"] as const;

/**
 * The lines of an export. Those up to a cursor are handed out together, so that an export that breaks off goes on from the
 * last cursor, and no line comes twice. It ends with the line of type end, or fails.
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
    let failure: Cut | undefined;
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
      if (!(error instanceof Cut)) throw error;
      failure = error;
    }
    const waitMs =
      tries < retries && failure?.failure.trace !== "final" ? waitOf(tries, failure?.failure.retryAfterMs) : undefined;
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

/** The line as a cursor or an end, if it is one. Most lines are not, and are not parsed. */
function markIn(line: string): Mark | undefined {
  if (!/^\{"type":"(?:cursor|end)"/.test(line)) return undefined;
  return JSON.parse(line) as Mark;
}

/**
 * Lines of an export, or plain messages. A list of lines is sent as one body, and again if the answer does not arrive: an
 * import adds nothing twice. Lines that come one by one are sent as they come, where the runtime can do that.
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
    const guard = new Guard(signals);
    const outcome = await send(endpoint, address, { headers: { "content-type": NDJSON }, body }, guard)
      .then((response) => readAnswer<ImportReport>(response, endpoint))
      .catch((error: unknown) => lost(endpoint, guard, signals, error))
      .finally(() => guard.release());
    if ("data" in outcome) return outcome.data;
    const mayRepeat = isWhole && outcome.trace !== "final" && tries < endpoint.retries;
    const waitMs = mayRepeat ? waitOf(tries, outcome.retryAfterMs) : undefined;
    if (waitMs === undefined) throw outcome.error;
    await pause(endpoint.clock, waitMs, [...signals, sending.closing]);
  }
}

/** One scope stands in the query string; `into` says what it is for. */
function importTarget({ scope, into, onConflict }: RemoteImportOptions): Target {
  if (scope !== undefined) parseScope(scope, "options.scope");
  if (onConflict !== undefined) parseChoice(onConflict, ON_CONFLICT, "options.onConflict");
  if (into === undefined) return { scope, query: { onConflict } };
  if (scope !== undefined) {
    throw invalid(
      "options.into",
      "cannot be given with a scope",
      "lines of an export need none, plain messages no into",
    );
  }
  return { scope: { ...parseSpace(into, "options.into") }, query: { onConflict, into: "scope" } };
}

async function whole(lines: Iterable<string> | AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = [];
  for await (const line of lines) parts.push(`${line}\n`);
  return parts;
}

function streamOf(lines: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = lines[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${value}\n`));
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
}

/** A runtime that cannot send a stream does not look at `duplex`, and makes a text of the body. Pages cannot, over HTTP/1. */
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
