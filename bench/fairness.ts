/**
 * `npm run bench:fairness`: the effect on a user while the built-in model embeds another user's text of 8 MB.
 *
 * In turns, without and beside that text: Bob adds a message, and the memory's own metric says how long after its commit it
 * was searchable by meaning; then he asks a question. Each time Ann is forgotten, which cancels the rest of her text. At the
 * end the memory is closed while her text is pending.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Memory, openMemory } from "holdfast";
import { type MadeEmbedder, makeEmbedder } from "./embedders.js";
import { describeMachine } from "./machine.js";
import { Workplace } from "./place.js";
import { table } from "./table.js";
import { type Latency, latency, spread } from "./timings.js";

const TURNS = 4;
const PROBES_PER_TURN = 8;
const PAUSE_MS = 150;
/** A message that is not searchable by then counts as this late. */
const PATIENCE_MS = Number(process.env["BENCH_PATIENCE_MS"] ?? 30_000);
/** About the length of the pieces that a text is split into. */
const PIECE = 300;
const TEXT_BYTES = 8 * 1024 * 1024 - 1024;
const SUBJECTS = ["The committee", "A neighbour", "Our supplier", "The old bridge", "This engine", "Every ledger"];
const VERBS = ["delivered", "measured", "painted", "reviewed", "replaced", "counted", "ordered", "described"];
const OBJECTS = ["seven wooden crates", "the north wall", "a pile of receipts", "two brass valves"];

/** Distinct sentences. */
function textOf(bytes: number): string {
  const sentences: string[] = [];
  for (let at = 0, length = 0; length < bytes; at++) {
    const sentence = `${SUBJECTS[at % 6]} ${VERBS[at % 8]} ${OBJECTS[at % 4]} once more, page ${at}. `;
    sentences.push(sentence);
    length += sentence.length;
  }
  return sentences.join("").slice(0, bytes);
}

interface Seen {
  readonly lags: number[];
  readonly adds: number[];
  readonly queries: number[];
}

class Trial {
  readonly without: Seen = { lags: [], adds: [], queries: [] };
  readonly beside: Seen = { lags: [], adds: [], queries: [] };
  readonly #memory: Memory;
  #probes = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  async probe({ lags, adds, queries }: Seen): Promise<void> {
    const bob = this.#memory.session({ user: "bob", session: "s" });
    const number = ++this.#probes;
    const before = (await this.#memory.stats()).latencies.meaning;
    const started = performance.now();
    await bob.add([{ role: "user", content: `Bob has put key number ${number} under the flower pot.` }]);
    adds.push(performance.now() - started);
    let after = before;
    while (after.count === before.count && performance.now() - started < PATIENCE_MS) {
      await pause(2);
      after = (await this.#memory.stats()).latencies.meaning;
    }
    lags.push(after.count === before.count ? PATIENCE_MS : after.sum - before.sum);
    const asked = performance.now();
    await bob.query(`where is the key with the number ${number}?`);
    queries.push(performance.now() - asked);
    await pause(PAUSE_MS);
  }
}

/** Milliseconds that the embedder takes for one slice of the long text: the median of a few. */
async function measureSlice({ embedder }: MadeEmbedder, text: string): Promise<number> {
  const { sliceBytes = 65_536 } = await embedder.describe();
  const pieces = Array.from({ length: Math.ceil(sliceBytes / PIECE) }, (_, at) =>
    text.slice(at * PIECE, (at + 1) * PIECE),
  );
  const times: number[] = [];
  for (let time = 0; time < 7; time++) {
    const started = performance.now();
    await embedder.embed(pieces);
    times.push(performance.now() - started);
  }
  return spread(times).median;
}

const ms = (value: number): string => (value >= PATIENCE_MS ? `> ${PATIENCE_MS}` : value.toFixed(0));
const row = (name: string, { p50, p95, max }: Latency): string[] => [name, ms(p50), ms(p95), ms(max)];

const place = await Workplace.make();
try {
  const { cpu, cores, os, node, load } = describeMachine(place);
  console.log(`${cpu}, ${cores} cores · ${os} · Node ${node} · load ${load.toFixed(2)}`);
  const made = await makeEmbedder("node");
  await made.embedder.embed(["ready"]);
  const memory = await openMemory({ path: place.newPath("fairness"), embedder: made.embedder });
  const trial = new Trial(memory);
  const content = textOf(TEXT_BYTES);
  const sliceMs = await measureSlice(made, content);
  const long = [{ role: "user" as const, content }];
  const forgets: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    for (let at = 0; at < PROBES_PER_TURN; at++) await trial.probe(trial.without);
    await memory.session({ user: "ann", session: "s" }).add(long);
    await pause(1_000);
    for (let at = 0; at < PROBES_PER_TURN; at++) await trial.probe(trial.beside);
    const started = performance.now();
    await memory.forget({ user: "ann" });
    forgets.push(performance.now() - started);
  }
  await memory.session({ user: "ann", session: "s" }).add(long);
  await pause(1_000);
  const closing = performance.now();
  const { pending } = await memory.close();
  const closeMs = performance.now() - closing;
  await made.close();
  const { without, beside } = trial;
  const [alone, both] = [latency(without.lags), latency(beside.lags)];
  console.log(`Bob, beside Ann's text of 8 MB; ${without.lags.length} probes each, by turns; milliseconds\n`);
  console.log(
    table(
      ["", "p50", "p95", "max"],
      [
        row("lag by meaning, without", alone),
        row("lag by meaning, beside", both),
        row("query, without", latency(without.queries)),
        row("query, beside", latency(beside.queries)),
        row("add, without", latency(without.adds)),
        row("add, beside", latency(beside.adds)),
        row("forget of Ann", latency(forgets)),
      ],
    ),
  );
  const bound = 2 * alone.p50 + sliceMs;
  const verdict = both.p50 <= bound ? "PASS" : "MISS";
  console.log(
    `\n${verdict}: lag beside ${ms(both.p50)} ≤ ${ms(bound)}, twice the lag without and a slice of ${ms(sliceMs)}`,
  );
  console.log(`close() with ${pending} pending: ${closeMs.toFixed(0)} ms`);
} finally {
  place.remove();
}
