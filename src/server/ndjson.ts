/**
 * Responses that are made while they are read. An error after the first piece cannot become an error response; `onBroken`
 * receives it and breaks the connection, so that the client does not mistake the pieces for a complete answer.
 */
type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
type Headers = { readonly [name: string]: string };

/** Produces each piece when the reader pulls. The first piece is awaited, so its error becomes the response. */
export async function streamed(
  pieces: Pieces,
  onBroken: (error: unknown) => void,
  headers: Headers,
): Promise<Response> {
  const first = await pieces.next();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (!first.done) controller.enqueue(first.value);
    },
    pull: async (controller) => {
      try {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBroken(error);
        controller.close();
      }
    },
    cancel: async () => {
      await pieces.return();
    },
  });
  return new Response(body, { headers: { ...headers, "cache-control": "no-store" } });
}

/** The same, of JSON lines. */
export const ndjson = (
  lines: AsyncGenerator<string, void, void>,
  onBroken: (error: unknown) => void,
): Promise<Response> => streamed(encoded(lines), onBroken, { "content-type": "application/x-ndjson; charset=utf-8" });

async function* encoded(lines: AsyncGenerator<string, void, void>): Pieces {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(`${line}\n`);
}
