/**
 * InferenceQueue: the queue of texts for the model, with two priorities. Texts are computed one at a time, and new calls
 * are admitted before each. So an urgent call waits for one text, not for all texts queued before it, and a dropped call
 * costs at most one text.
 */

/** A call: its texts as tokens, and the vectors computed so far. */
interface Job {
  readonly number: number;
  readonly texts: readonly (readonly number[])[];
  readonly urgent: boolean;
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: unknown) => void;
}

export class InferenceQueue {
  readonly #compute: (tokens: readonly number[]) => Promise<Float32Array>;
  readonly #admit: () => Promise<void>;
  #jobs: Job[] = [];
  #work: Promise<void> | undefined;

  /** `admit` resolves when the calls that arrived meanwhile are in the queue. */
  constructor(compute: (tokens: readonly number[]) => Promise<Float32Array>, admit: () => Promise<void>) {
    this.#compute = compute;
    this.#admit = admit;
  }

  /** Never settles if the call is dropped. */
  add(number: number, texts: readonly (readonly number[])[], urgent: boolean): Promise<Float32Array[]> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ number, texts, urgent, vectors: [], resolve, reject });
      this.#work ??= this.#serve();
    });
  }

  drop(number: number): void {
    this.#jobs = this.#jobs.filter((job) => job.number !== number);
  }

  /** Drops all calls; resolves when the current text is done. */
  async stop(): Promise<void> {
    this.#jobs = [];
    await this.#work;
  }

  async #serve(): Promise<void> {
    for (let job = this.#next(); job; job = this.#next()) {
      await this.#step(job);
      await this.#admit();
    }
    this.#work = undefined;
  }

  /** Urgent calls first, then in order of arrival. */
  #next(): Job | undefined {
    return this.#jobs.find(({ urgent }) => urgent) ?? this.#jobs[0];
  }

  /** Computes one text of the call. */
  async #step(job: Job): Promise<void> {
    try {
      const tokens = job.texts[job.vectors.length];
      if (tokens) job.vectors.push(await this.#compute(tokens));
      if (job.vectors.length < job.texts.length) return;
      job.resolve(job.vectors);
    } catch (error) {
      job.reject(error);
    }
    this.drop(job.number);
  }
}
