/**
 * A plain model of facts and messages, with which stores are compared.
 *
 * It has no spans: for each moment of a short time it records whether a fact held.
 */
import type { FactSource } from "../../stores/facts.js";

/** Valid times are below this; this one stands for the end of time. */
export const END = 12;

export type FactOperation =
  | { readonly do: "say"; readonly id: string; readonly session: string | undefined }
  | {
      readonly do: "put";
      readonly id: string;
      readonly from: number;
      readonly confidence: number;
      readonly source: FactSource;
      readonly supersedes: readonly string[];
      readonly force: boolean;
    }
  | { readonly do: "end"; readonly id: string; readonly at: number; readonly as: "ended" | "retracted" }
  | { readonly do: "forget"; readonly ids: readonly string[] }
  | { readonly do: "forget session"; readonly session: string; readonly entry: boolean };

/** A fact: whether it held at each moment, and since when it holds. Nothing is earlier than `closedUntil`. */
interface Known {
  readonly held: boolean[];
  since: number | undefined;
  closedUntil: number;
  retracted: boolean;
  confidence: number;
  /** As strings. */
  readonly sources: Set<string>;
}

export const textOf = ({ message: id, session: name }: FactSource): string =>
  id !== undefined ? `message ${id}` : name !== undefined ? `session ${name}` : "host";

export class PlainFacts {
  readonly facts = new Map<string, Known>();
  readonly messages = new Map<string, string | undefined>();
  readonly sessions = new Set<string>();

  /** The expected answer of the store: an error's code, or the result of a forget. */
  apply(operation: FactOperation): string | { readonly facts: number; readonly factsLeft: readonly string[] } {
    switch (operation.do) {
      case "say":
        return this.#say(operation.id, operation.session);
      case "put":
        return this.#put(operation);
      case "end":
        return this.#end(operation);
      case "forget":
        return this.#forgetting(() => {
          for (const id of operation.ids) this.#forget(id);
        });
      case "forget session":
        return this.#forgetting(() => this.#forgetSession(operation.session, operation.entry));
    }
  }

  #say(id: string, home: string | undefined): string {
    if (this.messages.has(id)) return this.messages.get(id) === home ? "ok" : "conflict";
    this.messages.set(id, home);
    if (home !== undefined) this.sessions.add(home);
    return "ok";
  }

  #put({ id, from, confidence, source, supersedes, force }: FactOperation & { do: "put" }): string {
    if (supersedes.includes(id)) return "invalid_input";
    const { message: ground } = source;
    if (ground !== undefined && !this.messages.has(ground) && this.facts.get(ground)?.since === undefined)
      return "not_found";
    if (ground !== undefined && this.#restsOn(ground, id)) return "invalid_input";
    if (supersedes.some((other) => !this.facts.has(other))) return "not_found";
    const known = this.facts.get(id) ?? this.#unknown(confidence);
    if (known.retracted && !force) return "ok";
    this.facts.set(id, known);
    const start = Math.max(from, known.closedUntil);
    known.since = Math.min(start, known.since ?? END);
    known.retracted = false;
    known.confidence = confidence;
    known.sources.add(textOf(source));
    if (ground === undefined && source.session !== undefined) this.sessions.add(source.session);
    for (const other of supersedes) this.#close(other, from);
    return "ok";
  }

  #unknown(confidence: number): Known {
    const held = Array.from({ length: END + 1 }, () => false);
    return { held, since: undefined, closedUntil: 0, retracted: false, confidence, sources: new Set() };
  }

  #restsOn(ground: string, id: string): boolean {
    if (ground === id) return true;
    const sources = [...(this.facts.get(ground)?.sources ?? [])].filter((text) => text.startsWith("message "));
    return sources.some((text) => this.#restsOn(text.slice("message ".length), id));
  }

  #end({ id, at, as }: FactOperation & { do: "end" }): string {
    const known = this.facts.get(id);
    if (!known) return "not_found";
    this.#close(id, at);
    if (as === "retracted") known.retracted = true;
    return "ok";
  }

  #close(id: string, at: number): void {
    const known = this.facts.get(id);
    if (known?.since === undefined) return;
    for (let moment = known.since; moment < at; moment++) known.held[moment] = true;
    if (at > known.since) known.closedUntil = at;
    known.since = undefined;
  }

  #forgetting(work: () => void) {
    const before = new Map([...this.facts].map(([id, { sources }]) => [id, sources.size]));
    work();
    const factsLeft = [...this.facts].filter(([id, { sources }]) => sources.size < (before.get(id) ?? 0));
    return { facts: before.size - this.facts.size, factsLeft: factsLeft.map(([id]) => id).sort() };
  }

  #forget(id: string): void {
    this.messages.delete(id);
    this.facts.delete(id);
    this.#lose(`message ${id}`);
  }

  #forgetSession(name: string, entry: boolean): void {
    for (const [id, home] of [...this.messages]) if (home === name) this.#forget(id);
    this.#lose(`session ${name}`);
    if (entry) this.sessions.delete(name);
  }

  #lose(ground: string): void {
    for (const [id, { sources }] of [...this.facts]) {
      if (sources.delete(ground) && sources.size === 0) this.#forget(id);
    }
  }

  heldAt(moment: number): string[] {
    const held = ({ retracted, held: past, since = END + 1 }: Known) => !retracted && (past[moment] || moment >= since);
    return [...this.facts].filter(([, known]) => held(known)).map(([id]) => id);
  }

  holding(): string[] {
    return [...this.facts].filter(([, { since }]) => since !== undefined).map(([id]) => id);
  }
}
