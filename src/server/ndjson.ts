/**
 * A response of JSON lines. An error after the first line cannot become an error response; `onBroken` receives it and breaks
 * the connection, so that the client does not mistake the lines for a complete answer.
 */

/** Produces each line when the reader pulls. The first line is awaited, so its error becomes the response. */
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
