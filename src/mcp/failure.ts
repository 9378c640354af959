/** Formats an error for the model: what went wrong and what to do next. It never contains stored text. */
import { HoldfastError } from "../errors.js";

export function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError))
    return "Error: internal error; the call may or may not have taken effect. Check before you try again; if it fails again, continue without it and tell the user.";
  const { message, hint, retryable, details } = error;
  const version = typeof details["version"] === "number" ? ` It has version ${details["version"]} now.` : "";
  const again = retryable ? " The same call may succeed in a moment." : "";
  return `Error: ${sentence(message)}${hint === undefined ? "" : ` ${sentence(hint)}`}${version}${again}`;
}

function sentence(text: string): string {
  const first = /^[a-z]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1); // but not a URL scheme
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
