/**
 * What a store should report about one session before, during and after reindexes, written to be read: a list of
 * messages, each with its vectors. It shares no code with a store.
 */

/** The vector of a text that a model has embedded, with the text of the message before it. */
export type VectorOf = (model: string, ...texts: readonly string[]) => Float32Array;

export interface Fill {
  readonly count: number;
  readonly how: "few" | "all" | "none";
}

export type Step<Model extends string> =
  | { readonly do: "add" }
  | { readonly do: "edit" | "touch" | "forget"; readonly at: number }
  | { readonly do: "embed"; readonly count: number }
  | { readonly do: "begin"; readonly model: Model }
  | ({ readonly do: "fill" } & Fill)
  | { readonly do: "switch"; readonly missingMax: number }
  | { readonly do: "abandon" | "maintain" | "replay" };

/** The new model does not take these. */
export const isRefused = (content: string): boolean => content.endsWith("7");

/** What a vector space has of a message: nothing yet, its vector, or its model's refusal. */
type Kept = Float32Array | "refused" | undefined;

interface Message {
  readonly id: string;
  version: number;
  content: string;
  /** The message before, whose text is in its vectors, in either space. */
  lender: Message | undefined;
  served: Kept;
  next: Kept;
}

const isVector = (kept: Kept): kept is Float32Array => kept instanceof Float32Array;

export class PlainReindexing {
  readonly #vectorOf: VectorOf;
  #messages: Message[] = [];
  #added = 0;
  #served: string | undefined;
  #next: string | undefined;

  constructor(vectorOf: VectorOf) {
    this.#vectorOf = vectorOf;
  }

  /** Does the step. Tells what the store should answer where that is the step's point. */
  run(step: Step<string>): unknown {
    switch (step.do) {
      case "add": {
        const id = `m${++this.#added}`;
        this.#messages.push({
          id,
          version: 1,
          content: `text ${id}`,
          lender: undefined,
          served: undefined,
          next: undefined,
        });
        return undefined;
      }
      case "edit":
      case "touch":
      case "forget":
        return this.#change(step.do, step.at);
      case "embed": {
        if (this.#added === 0) return undefined; // there is no session to embed
        // Whoever writes first decides which model is served.
        this.#served ??= "a";
        for (const message of this.#waiting().slice(0, step.count)) message.served = this.#embed(message, this.#served);
        return undefined;
      }
      case "begin": {
        if (this.#next !== undefined && this.#next !== step.model) return { code: "conflict" };
        const isServed = this.#next === undefined && this.#served === step.model;
        if (!isServed) this.#next = step.model;
        return { op: "begin_reindex", isServed };
      }
      case "fill":
        return this.#fill(step);
      case "switch":
        return this.#switch(step.missingMax);
      case "abandon": {
        const abandoned = this.#next !== undefined;
        this.#endNext();
        return { op: "abandon_reindex", abandoned };
      }
      case "replay":
        for (const message of this.#messages) if (message.served === "refused") message.served = undefined;
        return undefined;
      case "maintain":
        return undefined;
    }
  }

  #change(how: "edit" | "touch" | "forget", at: number): void {
    const message = this.#messages[at % Math.max(1, this.#messages.length)];
    if (!message) return;
    if (how === "forget") this.#messages = this.#messages.filter((other) => other !== message);
    else message.version++;
    const content = how === "edit" ? `edited ${message.id} ${at}` : message.content;
    const isSameText = how !== "forget" && content === message.content;
    message.content = content;
    if (message.served === "refused") message.served = undefined; // what is parked waits again
    if (isSameText) return;
    message.served = message.next = message.lender = undefined;
    for (const borrower of this.#messages.filter(({ lender }) => lender === message)) {
      if (isVector(borrower.served)) borrower.served = undefined;
      borrower.next = borrower.lender = undefined;
    }
  }

  #embed(message: Message, model: string): Float32Array {
    const lender = this.#messages[this.#messages.indexOf(message) - 1];
    message.lender = lender;
    return lender ? this.#vectorOf(model, message.content, lender.content) : this.#vectorOf(model, message.content);
  }

  #fill({ count, how }: Fill): void {
    if (this.#next === undefined || how === "none") return;
    const missing = this.#missing();
    for (const message of how === "few" ? missing.slice(0, count) : missing) {
      message.next = isRefused(message.content) ? "refused" : this.#embed(message, this.#next);
    }
  }

  #switch(missingMax: number): unknown {
    if (this.#next === undefined) return undefined;
    if (this.#missing().length > missingMax) return { op: "switch_space", switched: false };
    this.#served = this.#next;
    for (const message of this.#messages) message.served = message.next;
    this.#endNext();
    return { op: "switch_space", switched: true };
  }

  #endNext(): void {
    this.#next = undefined;
    for (const message of this.#messages) message.next = undefined;
  }

  #waiting(): readonly Message[] {
    return this.#messages.filter(({ served }) => served === undefined);
  }

  #missing(): readonly Message[] {
    return this.#messages.filter(({ next }) => next === undefined);
  }

  /** All that can be seen; `question` is what vectors are compared with. */
  view(models: readonly string[], question: Float32Array, spaceOf: (model: string) => object): unknown {
    const of = (space: "served" | "next", what: (kept: Kept) => boolean): number =>
      this.#messages.filter((message) => what(message[space])).length;
    const embedded = of("served", isVector);
    const near = (model: string): readonly string[] =>
      model !== this.#served
        ? []
        : this.#messages.flatMap(({ id, version, served }) =>
            isVector(served) ? [`${id} ${version} ${dot(served, question).toFixed(4)}`] : [],
          );
    return {
      stats: {
        pending: this.#waiting().length,
        parked: of("served", (kept) => kept === "refused"),
        embedded,
        chunks: embedded, // one each
        vectorSpace: this.#served === undefined ? undefined : spaceOf(this.#served),
      },
      next:
        this.#next === undefined
          ? undefined
          : {
              vectorSpace: spaceOf(this.#next),
              embedded: of("next", isVector),
              remaining: this.#missing().length,
              refused: of("next", (kept) => kept === "refused"),
            },
      near: models.map((model) => near(model).toSorted()),
      missing:
        this.#next === undefined
          ? undefined
          : this.#missing()
              .map(({ id, version }) => `${id} ${version}`)
              .toSorted(),
      waiting: this.#waiting().map(({ id, version }) => `${id} ${version}`),
    };
  }
}

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0);
