/** Lines of JSON over HTTP, one at a time in both directions. */
import { HoldfastError } from "../errors.js";

/** The longest line that is read: a message of the greatest size, written as JSON in the most wasteful way. */
const LINE_UNITS_MAX = 64 * 1024 * 1024;

/** A response that asks for the next line when the reader has taken the last. The first one is awaited: its refusal is the answer's. */
export async function ndjson(lines: AsyncGenerator<string, void, void>): Promise<Response> {
  const encoder = new TextEncoder();
  const first = await lines.next();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (!first.done) controller.enqueue(encoder.encode(`${first.value}\n`));
    },
    pull: async (controller) => {
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${value}\n`));
    },
    cancel: async () => {
      await lines.return();
    },
  });
  return new Response(body, {
    headers: { "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" },
  });
}

/** The lines of a body, without their ends; empty ones are left out. */
export async function* linesIn(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string, void, void> {
  if (!body) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    // Only what is new is searched, so that a long line costs no more than its length.
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    rest += first;
    const last = others.pop();
    const lines = last === undefined ? [] : [rest, ...others];
    rest = last ?? rest;
    if (rest.length > LINE_UNITS_MAX) {
      throw new HoldfastError("too_large", `a line is longer than ${LINE_UNITS_MAX} characters`, {
        hint: "one item stands on one line; is this JSON Lines?",
      });
    }
    for (const line of lines) if (line.trim() !== "") yield line;
  }
  rest += decoder.decode();
  if (rest.trim() !== "") yield rest;
}
