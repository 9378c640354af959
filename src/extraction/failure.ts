/** The error of an extractor: nothing was extracted, and the same messages may be offered again. */
import { type ErrorDetails, HoldfastError } from "../errors.js";

export function failure(message: string, hint: string, details: ErrorDetails["details"] = {}): HoldfastError {
  return new HoldfastError("extractor_failed", message, { hint, details });
}
