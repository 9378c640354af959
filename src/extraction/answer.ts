/**
 * Reads the list of drafts from a chat server's answer. Errors say what is wrong with the answer without quoting it.
 * The entries of the list are not checked here.
 */
import { failure } from "./failure.js";

/** As counted by the server; 0 if it does not count. */
export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The tokens of any answer, even a useless one: it was paid for. */
export function tokensOf(body: unknown): Tokens {
  const usage = fieldOf(body, "usage");
  return {
    inputTokens: countOf(fieldOf(usage, "prompt_tokens")),
    outputTokens: countOf(fieldOf(usage, "completion_tokens")),
  };
}

export function draftsOf(body: unknown): readonly unknown[] {
  const choices = fieldOf(body, "choices");
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = fieldOf(choice, "message");
  if (typeof message !== "object" || message === null) {
    throw failure(
      "the chat server returned an answer without a message",
      "check that the base URL is that of an OpenAI-compatible server",
    );
  }
  const ending = fieldOf(choice, "finish_reason");
  if (hasText(fieldOf(message, "refusal")) || ending === "content_filter") {
    throw failure(
      "the model refuses to answer",
      "its provider filters the topics of these messages; another model may accept them",
    );
  }
  if (ending === "length") {
    throw failure(
      "the model's answer was cut off at its token limit",
      "give the model a larger context or a higher limit, or extract from fewer messages at once",
    );
  }
  const content = fieldOf(message, "content");
  if (!hasText(content)) throw failure("the model's answer is empty", ANOTHER_MODEL);
  const facts = fieldOf(parse(unwrapped(content)), "facts");
  if (!Array.isArray(facts)) throw failure("the model's answer has no list of facts", ANOTHER_MODEL);
  return facts;
}

const ANOTHER_MODEL = "the same call may succeed later; if it keeps failing, the model may be too small for the task";

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause, which quotes the answer.
    throw failure("the model's answer is not JSON", ANOTHER_MODEL);
  }
}

/** Without the thoughts that some models include, and without the code fence that many put around JSON. */
function unwrapped(content: string): string {
  const thoughtsEnd = content.trimStart().startsWith("<think>") ? content.indexOf("</think>") : -1;
  const text = (thoughtsEnd < 0 ? content : content.slice(thoughtsEnd + "</think>".length)).trim();
  return text.startsWith("```") && text.endsWith("```") ? text.slice(text.indexOf("\n") + 1, -3) : text;
}

function hasText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as { readonly [key: string]: unknown })[key] : undefined;
}
