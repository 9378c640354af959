/**
 * Imports the reference server's memory file. The import is idempotent: existing entities are kept and get missing
 * observations, and the rest is created, in the order of the file.
 *
 * - Lines are written in batches; memory holds one batch, and a count per name.
 * - An unreadable line is skipped and reported by number: files written by two processes of the reference server are sometimes
 *   damaged, and the rest of them is worth importing.
 */
import { isUtf8 } from "node:buffer";
import { HoldfastError } from "../../errors.js";
import { decodeUtf8 } from "../../text.js";
import type { Entity, Relation } from "./graph.js";
import { entityDraft, relationDraft } from "./graph-item.js";
import { GraphItems, type GraphSession } from "./graph-items.js";
import { parseGraphLine } from "./graph-line.js";
import { Ordinals } from "./ordinals.js";

/** What an import of a graph has read and written. */
export interface GraphImportReport {
  /** Lines read, including empty ones. */
  readonly lines: number;
  /** Written by this import. */
  readonly entities: number;
  /** Relations written by this import. */
  readonly relations: number;
  /** Observations added to existing entities. */
  readonly observations: number;
  /** Lines that match existing data. */
  readonly repeated: number;
  /** Skipped lines. `unread` has the reasons for the first hundred that could not be read. */
  readonly skipped: number;
  /** The first hundred lines that could not be read. */
  readonly unread: readonly UnreadLine[];
}

/** A line that could not be read. */
export interface UnreadLine {
  /** From 1. */
  readonly line: number;
  /** The reason. */
  readonly why: string;
}

/** The options of `importGraph`. */
export interface GraphImportOptions {
  /** Stops the import. What it wrote until then stays. */
  readonly signal?: AbortSignal;
}

/** Equals the size of a group commit. */
const BATCH_LINES = 256;
const BATCH_UNITS = 1024 * 1024;
const UNREAD_SHOWN = 100;

/** Requires a session handle without a session in its scope, as KnowledgeGraph does. A line may be given as bytes. */
export async function importGraph(
  session: GraphSession,
  lines: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
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

  async take(given: string | Uint8Array): Promise<void> {
    const number = ++this.#counts.lines;
    if (typeof given !== "string" && !isUtf8(given)) return this.#skip(number, "it is not text in UTF-8");
    const text = typeof given === "string" ? given : decodeUtf8(given, "it");
    if (text.trim() === "") return;
    const line = parseGraphLine(text);
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

  /** Entities and relations are ordered separately, so they need not be written interleaved. */
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

  /** The second line with a name is the second entity of that name, and so on. */
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
      // It was deleted in the meantime, or the item was edited into something else.
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

  /** The error with the report added. */
  #stopped(error: unknown): unknown {
    if (!(error instanceof HoldfastError)) return error;
    const { code, message, hint, details } = error;
    const report = { ...this.#counts, unread: this.#unread };
    return new HoldfastError(code, `${message} (after line ${report.lines})`, {
      hint: `${hint ?? "repeat the import"}; what was imported so far is kept`,
      details: { ...details, report },
      cause: error,
    });
  }
}
