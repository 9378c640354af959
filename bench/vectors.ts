/**
 * `npm run bench:vectors`: the recall of a mirror's nearest-neighbour search, on vectors that the shipped model made of real
 * texts, and the error of its scores.
 *
 *   --data <paths>    files of one JSON object per line, or folders of such files, separated by commas; texts are
 *                     under `text`, questions under `question`
 *   --cache <folder>  keeps vectors there; without it everything is embedded again
 *   --vectors <n>     number of vectors (260000). If there are fewer texts, two or three adjacent ones are joined
 *   --questions <n>   number of questions (400)
 *   --json <file>     writes the numbers
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Embedder, MiniLmEmbedder } from "holdfast/embedding";
import { KeptEmbedder } from "./recall-embedder.js";
import { table } from "./table.js";
import { spread } from "./timings.js";
import { loadVectorParts } from "./vectors-product.js";

/** Longer texts may exceed the model's limit and would be split. */
const CHARACTERS_MAX = 450;
const BATCH = 256;
const LIMITS = [10, 100] as const;
const BUDGET = 1024 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    cache: { type: "string" },
    vectors: { type: "string", default: "260000" },
    questions: { type: "string", default: "400" },
    json: { type: "string" },
  },
});
if (values.data === undefined) {
  console.error("give --data: files or folders of texts, such as --data chats/messages.jsonl,questions");
  process.exit(2);
}
const begun = Date.now();
const say = (what: string): void => console.error(`${((Date.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${what}`);

const lines = values.data.split(",").flatMap(filesIn).flatMap(readLines);
const embedder: Embedder = values.cache === undefined ? new MiniLmEmbedder() : new KeptEmbedder(values.cache);
const { space } = await embedder.describe();
const { dimensions } = space;
const vectors = await embedAll(textsOf(lines, Number(values.vectors)), "texts");
const asked = [...new Set(lines.flatMap(({ question }) => question ?? []))];
const step = Math.max(1, Math.floor(asked.length / Number(values.questions)));
const questions = await embedAll(
  asked.filter((_, at) => at % step === 0).slice(0, Number(values.questions)),
  "questions",
);
await embedder.close();

const { encode, Mirror, Nearest, PagePool, Question } = await loadVectorParts();
const mirror = new Mirror(new PagePool(BUDGET, () => false), dimensions);
for (const [at, vector] of vectors.entries()) {
  if (!mirror.put(at + 1, encode(vector, dimensions))) throw new Error("there is no room");
}

const found = LIMITS.map((limit) => ({ limit, shares: [] as number[], ms: [] as number[], off: 0 }));
for (const [at, question] of questions.entries()) {
  if (at % 50 === 0) say(`asking, ${at} of ${questions.length}`);
  const scores = vectors.map((vector) => dot(vector, question));
  const sorted = Float64Array.from(scores).sort().reverse();
  for (const result of found) {
    const { limit, shares, ms } = result;
    const started = performance.now();
    const nearest = new Nearest(limit);
    mirror.scan(new Question(question), undefined, nearest);
    const best = nearest.best();
    ms.push(performance.now() - started);
    const least = sorted[limit - 1] as number;
    shares.push(best.filter(({ key }) => (scores[key - 1] as number) >= least).length / limit);
    for (const { key, score } of best) result.off = Math.max(result.off, Math.abs(score - (scores[key - 1] as number)));
  }
}

const rows = found.map(({ limit, shares, ms, off }) => ({
  limit,
  recall: shares.reduce((sum, share) => sum + share, 0) / shares.length,
  worst: Math.min(...shares),
  off,
  ms: spread(ms).median,
}));
console.log(`${vectors.length} vectors of ${space.model} (${space.runtime}), ${questions.length} questions\n`);
console.log(
  table(
    ["", "recall", "worst question", "scores off by at most", "ms a look"],
    rows.map(({ limit, recall, worst, off, ms }) => [
      `${limit} nearest`,
      recall.toFixed(4),
      worst.toFixed(2),
      off.toExponential(1),
      ms.toFixed(1),
    ]),
  ),
);
if (values.json !== undefined) {
  const report = { vectors: vectors.length, questions: questions.length, space, rows };
  writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
}

interface Line {
  readonly text?: string;
  readonly question?: string;
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => (name.endsWith(".jsonl") ? join(path, name) : []));
}

function readLines(file: string): Line[] {
  const text = readFileSync(file, "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as Line)));
}

/** Each text once; then two and three adjacent ones, joined. */
function textsOf(lines: readonly Line[], count: number): string[] {
  const said = lines.flatMap(({ text }) => (text === undefined || text.trim() === "" ? [] : text));
  const texts = new Set<string>();
  for (const together of [1, 2, 3]) {
    for (let at = 0; at + together <= said.length && texts.size < count; at++) {
      const text = said.slice(at, at + together).join(" ");
      if (text.length <= CHARACTERS_MAX) texts.add(text);
    }
  }
  return [...texts];
}

async function embedAll(texts: readonly string[], what: string): Promise<Float32Array[]> {
  const { tokensMax } = await embedder.describe();
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += BATCH) {
    if (at % (BATCH * 40) === 0) say(`embedding ${what}, ${at} of ${texts.length}`);
    const some = texts.slice(at, at + BATCH);
    const tokens = await embedder.countTokens(some);
    vectors.push(...(await embedder.embed(some.filter((_, place) => Number(tokens[place]) <= tokensMax))));
  }
  return vectors;
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}
