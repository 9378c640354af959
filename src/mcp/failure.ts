/** A failure as a model is told of it: what went wrong, and what to do next. It never contains stored text. */
import { HoldfastError } from "../errors.js";

export function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError))
    return "Error: something failed that should not; whether anything was changed is not known. Look before you try again; if it fails again, go on without it and tell the user.";
  const { message, hint, retryable, details } = error;
  const version = typeof details["version"] === "number" ? ` It has version ${details["version"]} now.` : "";
  const again = retryable ? " The same call may succeed in a moment." : "";
  return `Error: ${sentence(message)}${hint === undefined ? "" : ` ${sentence(hint)}`}${version}${again}`;
}

function sentence(text: string): string {
  const first = /^[a-z]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1); // not of an address
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
