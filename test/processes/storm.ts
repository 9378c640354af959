/**
 * What one of many processes does on the shared file: it adds to a session that all of them add to, counts on a counter
 * that all of them count on, edits and deletes its own messages, and forgets its own session, again and again. After
 * many of its writes another process is asked at once whether it sees them.
 */
import { createHash } from "node:crypto";
import { HoldfastError, type Memory } from "holdfast";
import { Random } from "../support/random.js";

export interface StormPlan {
  readonly index: number;
  readonly seed: number;
  readonly operations: number;
}

/** What must be seen by every process from the moment of its acknowledgement on. */
export interface Sight {
  readonly session: string;
  /** The version of the space, as whoever wrote has seen it. */
  readonly version: number;
  /** An item that is there, with this version, and found by this word. */
  readonly present?: { readonly id: string; readonly version: number; readonly word: string };
  /** Words that find nothing any more, and ids that are gone. */
  readonly goneWords: readonly string[];
  readonly goneIds: readonly string[];
}

/** What was acknowledged. */
export interface StormLog {
  /** Sequences in the shared session, in the order of the adds. */
  readonly sequences: readonly number[];
  readonly deleted: readonly number[];
  readonly counted: number;
  readonly seen: number;
  /** What other processes did not see, or saw although it was gone. */
  readonly unseen: readonly string[];
}

export const USER = "team";
export const SHARED = "shared";
export const COUNTER = { user: USER, session: "counter" };
export const COUNTER_ID = "the-counter";
export const ownSession = (index: number): string => `own-${index}`;

type Choice = "share" | "count" | "edit" | "delete" | "own" | "forget";
const WEIGHTS: { readonly [choice in Choice]: number } = { share: 10, count: 4, edit: 4, delete: 2, own: 4, forget: 1 };
const WITNESSED = 0.5;

interface Mine {
  readonly id: string;
  readonly sequence: number;
  readonly version: number;
  readonly word: string;
}

export class Storm {
  readonly #memory: Memory;
  readonly #plan: StormPlan;
  readonly #random: Random;
  readonly #witness: (sight: Sight) => Promise<string | undefined>;
  readonly #shared: Mine[] = [];
  readonly #sequences: number[] = [];
  readonly #deleted: number[] = [];
  readonly #unseen: string[] = [];
  #own: Mine[] = [];
  #counted = 0;
  #seen = 0;
  #words = 0;

  /** `witness` asks another process. */
  constructor(memory: Memory, plan: StormPlan, witness: (sight: Sight) => Promise<string | undefined>) {
    this.#memory = memory;
    this.#plan = plan;
    this.#random = new Random(plan.seed);
    this.#witness = witness;
  }

  async run(): Promise<StormLog> {
    for (let done = 0; done < this.#plan.operations; done++) await this.#step(this.#random.weighted(WEIGHTS));
    const [sequences, deleted] = [this.#sequences, this.#deleted];
    return { sequences, deleted, counted: this.#counted, seen: this.#seen, unseen: this.#unseen };
  }

  async #step(choice: Choice): Promise<void> {
    if (choice === "share") await this.#add(SHARED, this.#shared, this.#sequences);
    if (choice === "own") await this.#add(ownSession(this.#plan.index), this.#own, []);
    if (choice === "count") await this.#count();
    if (choice === "forget") await this.#forget();
    if (choice === "edit" && this.#shared.length > 0) await this.#edit();
    if (choice === "delete" && this.#shared.length > 0) await this.#delete();
  }

  async #add(name: string, mine: Mine[], sequences: number[]): Promise<void> {
    const words = Array.from({ length: this.#random.between(1, 3) }, () => this.#newWord());
    const session = this.#memory.session({ user: USER, session: name });
    const added = await session.add(words.map((word) => ({ role: "user", content: `${word} was said` })));
    for (const [at, word] of words.entries()) {
      mine.push({ id: added.ids[at] ?? "", sequence: added.sequences[at] ?? 0, version: 1, word });
    }
    sequences.push(...added.sequences);
    const { id = "", version = 1, word = "" } = mine.at(-1) ?? {};
    await this.#show({ session: name, present: { id, version, word }, goneWords: [], goneIds: [] });
  }

  /** Reads, adds one, writes if nobody has written meanwhile; again until it succeeds. An update that is lost shows. */
  async #count(): Promise<void> {
    const session = this.#memory.session(COUNTER);
    for (;;) {
      const [item] = await session.get([COUNTER_ID]);
      if (!item) throw new Error("the counter is gone");
      try {
        await session.update(
          COUNTER_ID,
          { content: String(Number(item.content) + 1) },
          { expectVersion: item.version },
        );
        this.#counted++;
        return;
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== "conflict") throw error;
      }
    }
  }

  async #edit(): Promise<void> {
    const at = this.#random.between(0, this.#shared.length - 1);
    const old = this.#shared[at] as Mine;
    const word = this.#newWord();
    const session = this.#memory.session({ user: USER, session: SHARED });
    const version = await session.update(old.id, { content: `${word} was meant` });
    if (version !== old.version + 1) this.#unseen.push(`version ${old.version} of ${old.id} became ${version}`);
    this.#shared[at] = { ...old, version, word };
    const present = { id: old.id, version, word };
    await this.#show({ session: SHARED, present, goneWords: [old.word], goneIds: [] });
  }

  async #delete(): Promise<void> {
    const [mine] = this.#shared.splice(this.#random.between(0, this.#shared.length - 1), 1) as [Mine];
    await this.#memory.session({ user: USER, session: SHARED }).delete([mine.id]);
    this.#deleted.push(mine.sequence);
    await this.#show({ session: SHARED, goneWords: [mine.word], goneIds: [mine.id] });
  }

  async #forget(): Promise<void> {
    const session = ownSession(this.#plan.index);
    await this.#memory.session({ user: USER, session }).forget();
    const gone = this.#own;
    this.#own = [];
    await this.#show({ session, goneWords: gone.map(({ word }) => word), goneIds: gone.map(({ id }) => id) });
  }

  async #show(sight: Omit<Sight, "version">): Promise<void> {
    if (!this.#random.chance(WITNESSED)) return;
    this.#seen++;
    const problem = await this.#witness({ ...sight, version: await versionOf(this.#memory) });
    if (problem !== undefined) this.#unseen.push(problem);
  }

  #newWord(): string {
    return `z${letters(this.#plan.index)}z${letters(this.#words++)}`;
  }
}

/** A number in consonants: a word that no analysis shortens. */
const letters = (value: number): string =>
  [...value.toString(16)].map((digit) => "bcdfghjklmnpqrtv"[Number.parseInt(digit, 16)]).join("");

const versionOf = async (memory: Memory): Promise<number> =>
  (await memory.service.store.versions([{ user: USER }]))[0]?.version ?? 0;

/** Whether this process sees what another one was told is done; undefined if it does, else what is wrong. */
export async function see(
  memory: Memory,
  { session, version, present, goneWords, goneIds }: Sight,
): Promise<string | undefined> {
  const scope = memory.session({ user: USER, session });
  const seen = await versionOf(memory);
  if (seen < version) return `version ${seen} of the space is older than ${version}`;
  const { items } = await scope.list({ limit: 1000 });
  if (present) {
    const [item] = await scope.get([present.id]);
    if (item?.version !== present.version) return `get: version ${item?.version} of ${JSON.stringify(present)}`;
    const listed = items.find(({ id }) => id === present.id);
    if (listed?.version !== present.version) return `list: version ${listed?.version} of ${JSON.stringify(present)}`;
    const [hit] = await scope.query(present.word);
    if (hit?.id !== present.id || !hit.content.startsWith(present.word)) return `query: ${JSON.stringify(present)}`;
  }
  for (const word of goneWords) if ((await scope.query(word)).length > 0) return `query: ${word} is gone, and found`;
  if (goneIds.length > 0 && (await scope.get(goneIds)).length > 0) return `get: one of ${goneIds} is gone, and there`;
  if (items.some(({ id }) => goneIds.includes(id))) return `list: one of ${goneIds} is gone, and there`;
  return undefined;
}

/** All that a process sees in the team's space, in short. */
export async function view(memory: Memory): Promise<string> {
  const hash = createHash("sha1");
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await memory.session({ user: USER }).list({ order: "asc", limit: 1000, ...(cursor && { cursor }) });
    hash.update(JSON.stringify(page.items));
    cursor = page.next;
  }
  hash.update(JSON.stringify(await memory.session({ user: USER }).query("was said meant", { topK: 1000 })));
  return hash.digest("base64");
}
