/**
 * Lines of JSON as an answer, one at a time. What goes wrong after the first line is no part of the answer: it is told to
 * `onBroken`, which breaks the connection, so that nobody takes the lines for all there are.
 */

/** A response that asks for the next line when the reader has taken the last. The first one is awaited: its refusal is the answer's. */
export async function ndjson(
  lines: AsyncGenerator<string, void, void>,
  onBroken: (error: unknown) => void,
): Promise<Response> {
  const encoder = new TextEncoder();
  const first = await lines.next();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (!first.done) controller.enqueue(encoder.encode(`${first.value}\n`));
    },
    pull: async (controller) => {
      try {
        const { value, done } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`${value}\n`));
      } catch (error) {
        onBroken(error);
        controller.close();
      }
    },
    cancel: async () => {
      await lines.return();
    },
  });
  return new Response(body, {
    headers: { "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" },
  });
}
