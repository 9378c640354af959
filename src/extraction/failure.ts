/** How an extractor fails: nothing was extracted, and the same messages may be offered again. */
import { type ErrorDetails, HoldfastError } from "../errors.js";

export function failure(message: string, hint: string, details: ErrorDetails["details"] = {}): HoldfastError {
  return new HoldfastError("extractor_failed", message, { hint, details });
}

/** The code for requests is shared with the embedder and speaks of it; here the same is said of the extractor. */
export function asExtractorError(error: unknown): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { message, hint, details, cause } = error;
  const code = error.code === "embedder_failed" ? "extractor_failed" : error.code;
  return new HoldfastError(code, reworded(message), {
    ...(hint !== undefined && { hint: reworded(hint) }),
    ...(cause !== undefined && { cause }),
    details,
  });
}

const reworded = (text: string): string =>
  text.replace("embedder", "extractor").replace("embedding server", "chat server").replace("batches", "pages");
