/**
 * `npm run bench:identifiers`: is the message that contains an identifier the first hit, among look-alikes?
 *
 * Every identifier occurs in one message and has five look-alikes that differ in one or two characters. It is queried twice,
 * alone and in a sentence, in a common spelling; the message uses another spelling. Half of the messages are the user's, half
 * the assistant's. Uses the public API with its defaults.
 *
 *   --seed <n>      another draw (1)
 *   --words         by words only, without the embedding model
 *   --misses        also prints those that did not come first
 *   --json <file>   writes the counts
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openMemory, type Session } from "holdfast";
import { randomFrom } from "./data.js";
import { type Kind, lookAlikes, MAIN, OTHERS } from "./identifier-kinds.js";
import { Workplace } from "./place.js";
import { table } from "./table.js";

const FAMILY = 6;
const MAIN_FAMILIES = 10;
const OTHER_FAMILIES = 4;
const PER_SESSION = 12;
const GOAL = 0.99;

const MESSAGES: readonly ((kind: string, identifier: string) => string)[] = [
  (kind, identifier) => `The ${kind} is ${identifier}.`,
  (kind, identifier) => `Please keep this ${kind} for later: ${identifier}`,
  (kind, identifier) => `I was told that ${identifier} is the ${kind} we need, and that it will not change.`,
  (_, identifier) => `They wrote "${identifier}" on the form, I think.`,
];
const SENTENCES: readonly ((kind: string, identifier: string) => string)[] = [
  (kind, identifier) => `What did we say about the ${kind} ${identifier}?`,
  (kind, identifier) => `Is ${identifier} the ${kind} that we were given?`,
  (_, identifier) => `who mentioned ${identifier}`,
];

interface Case {
  readonly kind: string;
  readonly id: string;
  readonly message: string;
  readonly questions: readonly { readonly form: Form; readonly text: string }[];
}

type Form = "alone" | "sentence";

interface Tally {
  asked: number;
  first: number;
  inTen: number;
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    words: { type: "boolean", default: false },
    misses: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const random = randomFrom(Number(values.seed));
const pick = (limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(list: readonly T[]): T => list[pick(list.length)] as T;

const cases = shuffled([
  ...MAIN.flatMap((kind) => casesOf(kind, MAIN_FAMILIES)),
  ...OTHERS.flatMap((kind) => casesOf(kind, OTHER_FAMILIES)),
]);
const place = await Workplace.make();
try {
  const model = values.words ? { buffer: { hybridBuffer: { embeddingModel: "none" as const } } } : {};
  const memory = await openMemory({ path: place.newPath("identifiers"), ...model });
  try {
    for (let at = 0; at < cases.length; at += PER_SESSION) {
      const session = memory.session({ user: "ada", session: `s${at / PER_SESSION}` });
      for (const { id, message } of cases.slice(at, at + PER_SESSION)) {
        await session.add([{ id, role: oneOf(["user", "assistant"] as const), content: message }]);
      }
    }
    await memory.flush();
    const tallies = await ask(memory.session({ user: "ada" }));
    report(tallies);
  } finally {
    await memory.close();
  }
} finally {
  place.remove();
}

function casesOf({ name, patterns, spellings }: Kind, families: number): readonly Case[] {
  const seen = new Set<string>();
  return Array.from({ length: families }, (_, family) => family).flatMap((family) => {
    let members: readonly string[] = [];
    do members = lookAlikes(patterns[family % patterns.length] ?? "", FAMILY, pick);
    while (members.some((member) => seen.has(member)));
    return members.map((identifier, at) => {
      seen.add(identifier);
      return {
        kind: name,
        id: `${name} ${family}.${at}`,
        message: oneOf(MESSAGES)(name, oneOf(spellings)(identifier)),
        questions: [
          { form: "alone" as const, text: oneOf(spellings)(identifier) },
          { form: "sentence" as const, text: oneOf(SENTENCES)(name, oneOf(spellings)(identifier)) },
        ],
      };
    });
  });
}

function shuffled<T>(list: readonly T[]): readonly T[] {
  const left = [...list];
  return list.map(() => left.splice(pick(left.length), 1)[0] as T);
}

async function ask(session: Session): Promise<ReadonlyMap<string, Readonly<Record<Form, Tally>>>> {
  const tallies = new Map<string, Record<Form, Tally>>();
  const none = (): Tally => ({ asked: 0, first: 0, inTen: 0 });
  for (const { kind, id, message, questions } of cases) {
    const tally = tallies.get(kind) ?? { alone: none(), sentence: none() };
    tallies.set(kind, tally);
    for (const { form, text } of questions) {
      const hits = await session.query(text, { topK: 10 });
      const rank = hits.findIndex((hit) => hit.id === id);
      tally[form].asked++;
      if (rank === 0) tally[form].first++;
      if (rank >= 0) tally[form].inTen++;
      if (rank !== 0 && values.misses) console.log(`${rank + 1 || "-"}\t${text}\n\t${message}\n\t${hits[0]?.content}`);
    }
  }
  return tallies;
}

function report(tallies: ReadonlyMap<string, Readonly<Record<Form, Tally>>>): void {
  const rowOf = (name: string, kinds: readonly Kind[]): string[] => {
    const sum = (form: Form, field: keyof Tally): number =>
      kinds.reduce((total, kind) => total + (tallies.get(kind.name)?.[form][field] ?? 0), 0);
    const asked = sum("alone", "asked");
    const cells = (["alone", "sentence"] as const).flatMap((form) => [
      `${sum(form, "first")}`,
      `${sum(form, "inTen")}`,
    ]);
    const share = (sum("alone", "first") + sum("sentence", "first")) / (2 * asked);
    return [name, `${asked}`, ...cells, `${(share * 100).toFixed(1)} %`];
  };
  const rows = (kinds: readonly Kind[]): string[][] => kinds.map((kind) => rowOf(`  ${kind.name}`, [kind]));
  const total = rowOf("six kinds", MAIN);
  console.log(`${cases.length} messages, seed ${values.seed}${values.words ? ", by words alone" : ""}\n`);
  console.log(
    table(
      ["", "identifiers", "alone: first", "in ten", "in a sentence: first", "in ten", "first"],
      [total, ...rows(MAIN), rowOf("others", OTHERS), ...rows(OTHERS)],
    ),
  );
  const share = Number.parseFloat(total.at(-1) ?? "0") / 100;
  console.log(`goal: ${GOAL * 100} % of the six kinds first; ${share >= GOAL ? "PASS" : "MISS"}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(Object.fromEntries(tallies), undefined, 1)}\n`);
}
