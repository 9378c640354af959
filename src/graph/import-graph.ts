/**
 * Import of the reference server's memory file. It can be repeated at any time: what is there stays, an entity that is
 * there gets the observations that it lacks, and the rest is created, in the file's order.
 *
 * - Lines are written in batches; memory holds one batch, and how often each name has come.
 * - A line that cannot be read is left out and told by its number: files that two of the reference server's processes
 *   have written are damaged now and then, and what is whole in them is worth having.
 */
import { HoldfastError } from "../errors.js";
import type { Entity, Relation } from "./graph.js";
import { entityDraft, relationDraft } from "./graph-item.js";
import { GraphItems, type GraphSession } from "./graph-items.js";
import { parseGraphLine } from "./graph-line.js";
import { Ordinals } from "./ordinals.js";

export interface GraphImportReport {
  /** Lines read, empty ones too. */
  readonly lines: number;
  /** What was written by this import. */
  readonly entities: number;
  readonly relations: number;
  /** Observations that entities which were there have got. */
  readonly observations: number;
  /** Lines that say what is there already. */
  readonly repeated: number;
  /** Lines that were left out; of those that could not be read `unread` says why, of the first hundred. */
  readonly skipped: number;
  readonly unread: readonly UnreadLine[];
}

export interface UnreadLine {
  /** From 1. */
  readonly line: number;
  readonly why: string;
}

export interface GraphImportOptions {
  readonly signal?: AbortSignal;
}

/** A batch is as large as a group commit. */
const BATCH_LINES = 256;
const BATCH_UNITS = 1024 * 1024;
const UNREAD_SHOWN = 100;

/** Requires a session whose scope names no session, as KnowledgeGraph does. */
export async function importGraph(
  session: GraphSession,
  lines: AsyncIterable<string> | Iterable<string>,
  { signal }: GraphImportOptions = {},
): Promise<GraphImportReport> {
  const run = new GraphImport(new GraphItems(session));
  for await (const text of lines) {
    signal?.throwIfAborted();
    await run.take(text);
  }
  signal?.throwIfAborted();
  return run.end();
}

class GraphImport {
  readonly #items: GraphItems;
  readonly #ordinals = new Ordinals();
  readonly #unread: UnreadLine[] = [];
  readonly #counts = { lines: 0, entities: 0, relations: 0, observations: 0, repeated: 0, skipped: 0 };
  #entities: Entity[] = [];
  #relations: Relation[] = [];
  #units = 0;

  constructor(items: GraphItems) {
    this.#items = items;
  }

  async take(text: string): Promise<void> {
    const number = ++this.#counts.lines;
    const bare = number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
    if (bare.trim() === "") return;
    const line = parseGraphLine(bare);
    if (typeof line === "string") return this.#skip(number, line);
    const waiting = this.#entities.length + this.#relations.length;
    if (waiting >= BATCH_LINES || (waiting > 0 && this.#units + text.length > BATCH_UNITS)) await this.#write();
    if (line.type === "entity") this.#entities.push(line.entity);
    else this.#relations.push(line.relation);
    this.#units += text.length;
  }

  async end(): Promise<GraphImportReport> {
    await this.#write();
    return { ...this.#counts, unread: this.#unread };
  }

  #skip(line: number, why: string): void {
    this.#counts.skipped++;
    if (this.#unread.length < UNREAD_SHOWN) this.#unread.push({ line, why });
  }

  /** Entities and relations are kept in an order of their own each, so they need not be written as they are mixed. */
  async #write(): Promise<void> {
    const [entities, relations] = [this.#entities, this.#relations];
    this.#entities = [];
    this.#relations = [];
    this.#units = 0;
    try {
      await this.#writeEntities(entities);
      await this.#writeRelations(relations);
    } catch (error) {
      throw this.#stopped(error);
    }
  }

  /** The second line of a name is the second entity of that name, and so on. */
  async #writeEntities(entities: readonly Entity[]): Promise<void> {
    const drafts = entities.map((entity) => {
      const draft = entityDraft(entity, this.#ordinals.next("entity", entity.name));
      return { ...draft, first: draft.id };
    });
    const added = await this.#items.add(drafts);
    this.#counts.entities += added.size;
    const others = [...entities.entries()].filter(([at]) => !added.has(at));
    const there = await this.#items.find(others.map(([at]) => drafts[at]?.id ?? ""));
    for (const [at, { observations }] of others) {
      const kept = there.get(drafts[at]?.id ?? "");
      let lacking: readonly string[] = [];
      const edit = (before: readonly string[]): readonly string[] => {
        lacking = observations.filter((observation) => !before.includes(observation));
        return [...before, ...lacking];
      };
      const entity = kept && (await this.#items.edit(kept, edit));
      // Without one, somebody has deleted it meanwhile, or made something else of the item.
      if (!entity) this.#counts.skipped++;
      else if (lacking.length === 0) this.#counts.repeated++;
      else this.#counts.observations += lacking.length;
    }
  }

  async #writeRelations(relations: readonly Relation[]): Promise<void> {
    const drafts = relations.map((relation) => {
      const { from, relationType, to } = relation;
      const draft = relationDraft(relation, this.#ordinals.next("relation", from, relationType, to));
      return { ...draft, first: draft.id };
    });
    const added = await this.#items.add(drafts);
    this.#counts.relations += added.size;
    this.#counts.repeated += relations.length - added.size;
  }

  /** The error, with what was done before it. */
  #stopped(error: unknown): unknown {
    if (!(error instanceof HoldfastError)) return error;
    const { code, message, hint, details } = error;
    const report = { ...this.#counts, unread: this.#unread };
    return new HoldfastError(code, `${message} (after line ${report.lines})`, {
      hint: `${hint ?? "repeat the import"}; what was imported before stays`,
      details: { ...details, report },
      cause: error,
    });
  }
}
