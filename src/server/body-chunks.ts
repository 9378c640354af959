/** The body of a request, chunk by chunk. When the server stops, it waits for no more of them: who sends slowly holds up nobody. */
export async function* chunksIn(
  body: ReadableStream<Uint8Array> | null,
  stopping: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  if (!body) return;
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined); // it has ended by itself
  stopping.addEventListener("abort", leave, { once: true });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    stopping.removeEventListener("abort", leave);
    await reader.cancel();
  }
}
