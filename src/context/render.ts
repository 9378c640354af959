/** Renders a context in the formats of model APIs. A part without text is left out. */
import type { Context } from "./context.js";

/** The separator between prefix and tail. */
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

/** The whole context as one text, whose tokens are counted. */
export const renderText = ({ prefix, tail }: Parts): string => joinText(prefix, tail);

/**
 * The prefix as a system message, which stays the same, and the tail as a user message: remembered text has no more
 * authority than that. Put the conversation between the two, so that the prompt cache covers it.
 */
export function renderOpenAI({ prefix, tail }: Parts): readonly OpenAIMessage[] {
  return [
    ...(prefix === "" ? [] : [{ role: "system", content: prefix } as const]),
    ...(tail === "" ? [] : [{ role: "user", content: tail } as const]),
  ];
}

/** The same for Anthropic, with the prefix marked for caching. */
export function renderAnthropic({ prefix, tail }: Parts): AnthropicContext {
  const cached = { type: "text", text: prefix, cache_control: { type: "ephemeral" } } as const;
  return {
    system: prefix === "" ? [] : [cached],
    messages: tail === "" ? [] : [{ role: "user", content: [{ type: "text", text: tail }] }],
  };
}

export const joinText = (prefix: string, tail: string): string =>
  prefix === "" || tail === "" ? prefix + tail : prefix + SEAM + tail;
