/**
 * Replaces the ids of a request by short names: m1, m2… for its messages, f1, f2… for known facts. A model copies short
 * names without mistakes and for few tokens, and ids, which callers may choose, stay out of the prompt.
 */
import type { ExtractionRequest, FactDraft } from "./extractor.js";

export class Aliases {
  /** The same request with short names for ids. */
  readonly request: ExtractionRequest;
  readonly #ids = new Map<string, string>();

  constructor({ messages, known }: ExtractionRequest) {
    this.request = {
      messages: messages.map((message, index) => ({ ...message, id: this.#name(`m${index + 1}`, message.id) })),
      known: known.map((fact, index) => ({ ...fact, id: this.#name(`f${index + 1}`, fact.id) })),
    };
  }

  /** The draft with ids for short names. Requires that all of them are of this request. */
  resolve({ source, supersedes, ...rest }: FactDraft): FactDraft {
    return {
      ...rest,
      ...(source !== undefined && { source: this.#id(source) }),
      ...(supersedes && { supersedes: supersedes.map((name) => this.#id(name)) }),
    };
  }

  #name(name: string, id: string): string {
    this.#ids.set(name, id);
    return name;
  }

  #id(name: string): string {
    const id = this.#ids.get(name);
    if (id === undefined) throw new RangeError("a draft refers to something that is not in its request");
    return id;
  }
}
