/** Lines of JSON as an answer, one at a time. */

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
