/**
 * Reads request bodies. A slow sender occupies a slot that others could use, so a body has to arrive at a minimum rate;
 * a slower one is refused with `request_timeout`.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "hono";
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";

/**
 * The slowest acceptable body. A sender starts with `graceMs`, spends it while the server waits, and earns it back at
 * `bytesPerSecond`, up to `graceMs`. So `graceMs` bounds every pause and `bytesPerSecond` is the minimum rate.
 */
export interface MinDataRate {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/** For ordinary calls. A small body has to arrive within seconds. */
const CALL_RATE: MinDataRate = { graceMs: 10_000, bytesPerSecond: 16 * 1024 };
/** For imports: the sender may need time to produce each line. */
export const STREAM_RATE: MinDataRate = { graceMs: 60_000, bytesPerSecond: 128 };

const LINE_FEED = 0x0a;

export interface BodyLimits {
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Receives the number of bytes held in memory. If it throws, reading stops. */
  readonly hold: (bytes: number) => void;
}

/** The whole body. Rejects with `too_large` as soon as the limit is exceeded, and with `request_timeout`. */
export async function readBody(c: Context, { maxBytes, clock, hold }: BodyLimits): Promise<Uint8Array> {
  if (Number(c.req.header("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(c, clock, CALL_RATE)) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    hold(bytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/**
 * The body chunk by chunk. Only time spent waiting for a chunk counts; the consumer may take its time. The sequence ends
 * when `stopping` is aborted.
 */
export async function* chunksOf(
  c: Context,
  clock: Clock,
  { graceMs, bytesPerSecond }: MinDataRate,
  stopping?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { incoming } = (c.env ?? {}) as { readonly incoming?: IncomingMessage };
  const chunks = incoming ? iteratorOf(incoming) : (c.req.raw.body ?? Readable.from([]))[Symbol.asyncIterator]();
  let leftMs = graceMs;
  let isWaiting = false;
  try {
    for (;;) {
      const since = clock.passed();
      isWaiting = true;
      const next: Promise<IteratorResult<Uint8Array>> = chunks.next();
      // A complete body, the usual case, needs no timer.
      const came = incoming?.complete ? await next : await before(next, { clock, ms: leftMs, stopping });
      isWaiting = typeof came === "string";
      if (came === "late") throw tooSlow();
      if (came === "stopping" || came.done) return;
      const earnedMs = (came.value.byteLength / bytesPerSecond) * 1000;
      leftMs = Math.min(leftMs - (clock.passed() - since) + earnedMs, graceMs);
      yield came.value;
    }
  } finally {
    // A pending `next` would block this until the connection closes.
    if (!isWaiting) await chunks.return?.();
  }
}

/**
 * Passes chunks on and reports the bytes held: the chunk plus the unfinished line before it.
 */
export async function* heldByLine(
  chunks: AsyncIterable<Uint8Array>,
  hold: BodyLimits["hold"],
): AsyncGenerator<Uint8Array, void, void> {
  let held = 0;
  for await (const chunk of chunks) {
    held += chunk.byteLength;
    hold(held);
    yield chunk;
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end >= 0) held = chunk.byteLength - end - 1;
  }
}

/**
 * Reads the Node stream directly, which takes a third of the time of the web stream. If returning destroyed the message, it
 * could no longer be answered.
 */
const iteratorOf = (incoming: IncomingMessage): AsyncIterator<Uint8Array> =>
  incoming.iterator({ destroyOnReturn: false });

interface Bound {
  readonly clock: Clock;
  readonly ms: number;
  readonly stopping: AbortSignal | undefined;
}

function before<T>(work: Promise<T>, { clock, ms, stopping }: Bound): Promise<T | "late" | "stopping"> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => resolve("stopping"));
    const cancel = clock.after(ms, () => settle(() => resolve("late")));
    const settle = (end: () => void): void => {
      cancel();
      stopping?.removeEventListener("abort", stop);
      end();
    };
    stopping?.addEventListener("abort", stop, { once: true });
    if (stopping?.aborted) stop();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error as Error)),
    );
  });
}

const tooLarge = (maxBytes: number): HoldfastError =>
  new HoldfastError("too_large", `the body is larger than ${maxBytes} bytes`, {
    hint: "split it into several requests, or use import, which streams",
    details: { maxBytes },
  });

const tooSlow = (): HoldfastError =>
  new HoldfastError("request_timeout", "the request body arrived too slowly", {
    hint: "retry over a better connection or in smaller parts; apart from imported lines, nothing was written",
  });
