/**
 * Runs the loops of one round on one side, each on its own memory, whose file is a fresh copy of the user's history.
 *
 * local: a file and the model of the package · slow: a store and an embedder that take 30 ms per call
 */
import { copyFileSync, existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { BufferService, Memory, type Options, openMemory } from "holdfast";
import type { Embedder } from "holdfast/embedding";
import { SqliteStore } from "holdfast/stores";
import { withLoopDelay } from "./holdfast.js";
import type { Workplace } from "./place.js";
import type { RecallTurn } from "./recall-data.js";
import { ASKS, type AskKind, type Call, type Loop } from "./speculation-plan.js";

export const BACKENDS = ["local", "slow"] as const;
export type BackendName = (typeof BACKENDS)[number];
export const CALL_MS = 30;
const BUDGET_TOKENS = 2_000;

/** The predictors that can be used alone. */
export const PREDICTORS = ["next_line", "stride", "correlation", "topic", "opening", "anticipate"] as const;
export type PredictorName = (typeof PREDICTORS)[number];
/** A side: without speculation, with all predictors, or with one of them. */
export type Side = "without" | "all" | PredictorName;

type SpeculativeStats = NonNullable<Awaited<ReturnType<Memory["stats"]>>["speculative"]>;
type PredictorStats = NonNullable<SpeculativeStats["predictors"][PredictorName]>;

/** Milliseconds of each call, by what it did. */
export type Times = { readonly [what in "add" | "context" | AskKind]: number[] };

export interface Run {
  readonly times: Times;
  /** In the order of the calls, of all loops. */
  readonly answers: readonly Answer[];
  readonly loopP99Ms: number;
  readonly cpuSeconds: number;
  /** Of each memory. */
  readonly predictors: readonly { readonly [name in PredictorName]?: PredictorStats }[];
}

export interface Answer {
  readonly call: string;
  /** The ids of the hits in order, or the context's text. */
  readonly content: string;
  /** Something was not read in time, and says so; or that happened earlier in the loop, and this context makes up for it. */
  readonly isPartial: boolean;
}

export interface Assignment {
  readonly backend: BackendName;
  readonly thinkMs: number;
  readonly side: Side;
  readonly loops: readonly Loop[];
}

export class Stage {
  readonly #place: Workplace;
  readonly #embedders: { readonly [backend in BackendName]: Embedder };
  /** The files of the users' histories, by backend and user. */
  readonly #files = new Map<string, string>();

  constructor(place: Workplace, embedders: { readonly [backend in BackendName]: Embedder }) {
    this.#place = place;
    this.#embedders = embedders;
  }

  /** Loops run one after another if they would compete for the processor, and side by side if they mostly wait. */
  async run({ backend, thinkMs, side, loops }: Assignment): Promise<Run> {
    const isWaiting = backend === "slow" || thinkMs >= 500;
    const memories: Memory[] = [];
    try {
      for (const { user, history } of loops) memories.push(await this.#open(backend, side, user, history));
      const times: Times = Object.fromEntries(["add", "context", ...ASKS].map((what) => [what, []])) as never;
      const answers: Answer[][] = loops.map(() => []);
      const before = process.cpuUsage();
      const [, { p99 }] = await withLoopDelay(async () => {
        const replays: Promise<void>[] = [];
        for (const [at, loop] of loops.entries()) {
          const replayed = replay(memories[at] as Memory, loop, { thinkMs, times, answers: answers[at] as Answer[] });
          replays.push(replayed);
          if (!isWaiting) await replayed;
        }
        await Promise.all(replays);
      });
      for (const [at, memory] of memories.entries()) await embedAll(memory, loops[at]?.user ?? "");
      const { user, system } = process.cpuUsage(before);
      const stats = await Promise.all(memories.map((memory) => memory.stats()));
      const predictors = stats.flatMap(({ speculative }) => speculative?.predictors ?? []);
      return { times, answers: answers.flat(), loopP99Ms: p99, cpuSeconds: (user + system) / 1e6, predictors };
    } finally {
      for (const memory of memories) await memory.close();
    }
  }

  async #open(backend: BackendName, side: Side, user: string, history: readonly RecallTurn[]): Promise<Memory> {
    const path = this.#place.newPath(`speculation-${backend}`);
    copyFileSync(await this.#history(backend, user, history), path);
    const predictors = side === "all" || side === "without" ? {} : { predictors: side };
    const speculative = { ...predictors, ...(side === "without" && { maxSize: 0 }) };
    const embedder = backend === "local" ? this.#embedders.local : slowed(this.#embedders.slow);
    const options = { path, embedder, buffer: { speculative } } satisfies Options;
    if (backend === "local") return openMemory(options);
    const resolved = this.#place.product.loadConfig({ code: options, env: {}, file: undefined });
    const store = await SqliteStore.open({ path, ...resolved.store });
    const service = new BufferService(slowed(store), resolved, { embedder });
    await service.start();
    return new Memory(service);
  }

  /** The file of a user's history, which is made once. */
  async #history(backend: BackendName, user: string, history: readonly RecallTurn[]): Promise<string> {
    const name = `${backend} ${user}`;
    const known = this.#files.get(name);
    if (known !== undefined && existsSync(known)) return known;
    const path = this.#place.newPath("history");
    const memory = await openMemory({ path, embedder: this.#embedders[backend] });
    try {
      for (const session of new Set(history.map((turn) => turn.session))) {
        const turns = history.filter((turn) => turn.session === session);
        await memory.session({ user, session }).addBatch(turns.map(({ message }) => [message]));
      }
      await embedAll(memory, user);
    } finally {
      await memory.close();
    }
    this.#files.set(name, path);
    return path;
  }
}

interface Replay {
  readonly thinkMs: number;
  readonly times: Times;
  readonly answers: Answer[];
}

/** Makes the calls of a loop. The think time passes before each question. */
async function replay(memory: Memory, { user, calls }: Loop, { thinkMs, times, answers }: Replay): Promise<void> {
  let wasPartial = false;
  for (const call of calls) {
    const session = memory.session({ user, session: call.session });
    if (call.do === "query" && call.ask === "announced") await session.anticipate(call.text);
    if (call.do !== "add" && thinkMs > 0) await pause(thinkMs);
    const started = performance.now();
    const answer = await make(session, call);
    times[call.do === "query" ? call.ask : call.do].push(performance.now() - started);
    if (!answer) continue;
    if (call.do === "context") wasPartial ||= answer.isPartial;
    answers.push(call.do === "context" ? { ...answer, isPartial: wasPartial } : answer);
  }
}

async function make(session: ReturnType<Memory["session"]>, call: Call): Promise<Answer | undefined> {
  if (call.do === "add") {
    await session.add([call.message]);
    return undefined;
  }
  if (call.do === "context") {
    const { prefix, tail, partial } = await session.context({ query: call.query, budgetTokens: BUDGET_TOKENS });
    return { call: `context ${call.query}`, content: `${prefix}\n${tail}`, isPartial: partial };
  }
  const hits = await session.query(call.text, call.offset > 0 ? { offset: call.offset } : {});
  const content = hits.map(({ id }) => id).join(" ");
  return { call: `${call.ask} ${call.offset} ${call.text}`, content, isPartial: hits.partial };
}

async function embedAll(memory: Memory, user: string): Promise<void> {
  const { pending, parked } = await memory.flush();
  if (pending + parked > 0) throw new Error(`${pending + parked} turns of ${user} are not embedded`);
}

/** The same object, except that each call of a method takes at least `CALL_MS`, as if it were on another machine. */
function slowed<T extends object>(inner: T): T {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...values: readonly unknown[]): Promise<unknown> => {
        await pause(CALL_MS);
        return Reflect.apply(value, target, values);
      };
    },
  });
}
