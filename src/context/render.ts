/** A context in the forms that models are given. A part without text is left out. */
import type { Context } from "./context.js";

/** Where the prefix ends and the tail begins. */
const SEAM = "\n\n";

export interface OpenAIMessage {
  readonly role: "system" | "user";
  readonly content: string;
}

export interface AnthropicText {
  readonly type: "text";
  readonly text: string;
  readonly cache_control?: { readonly type: "ephemeral" };
}

export interface AnthropicContext {
  readonly system: readonly AnthropicText[];
  readonly messages: readonly { readonly role: "user"; readonly content: readonly AnthropicText[] }[];
}

type Parts = Pick<Context, "prefix" | "tail">;

/** All of it as one text: the one whose tokens are counted. */
export const renderText = ({ prefix, tail }: Parts): string => joinText(prefix, tail);

/**
 * The prefix as a system message, which stays the same, and the tail as a message of the user: what was remembered has no
 * more authority than that. The conversation goes between the two, so that the cache keeps it.
 */
export function renderOpenAI({ prefix, tail }: Parts): readonly OpenAIMessage[] {
  return [
    ...(prefix === "" ? [] : [{ role: "system", content: prefix } as const]),
    ...(tail === "" ? [] : [{ role: "user", content: tail } as const]),
  ];
}

/** The same for Anthropic, where the prefix says that it is to be cached. */
export function renderAnthropic({ prefix, tail }: Parts): AnthropicContext {
  const cached = { type: "text", text: prefix, cache_control: { type: "ephemeral" } } as const;
  return {
    system: prefix === "" ? [] : [cached],
    messages: tail === "" ? [] : [{ role: "user", content: [{ type: "text", text: tail }] }],
  };
}

export const joinText = (prefix: string, tail: string): string =>
  prefix === "" || tail === "" ? prefix + tail : prefix + SEAM + tail;
