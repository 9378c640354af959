/**
 * Import: lines become what they tell of. An import can be repeated at any time: what is there already is left as it is,
 * so that one that was stopped, by whatever, is simply run again on the same file.
 *
 * Invariants:
 * - Lines are written in their order, in batches; memory holds one batch.
 * - A space is asked about (`only`, `allow`) before anything of it is written.
 * - Nothing that is there is changed.
 */
import { HoldfastError } from "../errors.js";
import { type Fields, invalid } from "../input/refusal.js";
import type { Memory } from "../memory.js";
import type { BufferService } from "../service.js";
import type { SpaceRef } from "../types.js";
import { type BodyType, type Counts, NO_COUNTS, spaceName } from "./format.js";
import { importBlocks } from "./import-blocks.js";
import { importFacts, importSuperseded } from "./import-facts.js";
import { importItems } from "./import-items.js";
import { type ImportOptions, type ParsedImport, parseImport } from "./import-options.js";
import { importPromotions } from "./import-promotions.js";
import { importEntries, importSessions } from "./import-registry.js";
import { type BodyInput, checkHeader, isHeader, jsonOf, notJson, parseLine } from "./line.js";
import { parsePlain } from "./plain.js";
import { type ImportReport, type Numbered, Tally } from "./report.js";
import { Rounds } from "./rounds.js";

/** A batch is as large as a group commit. */
const BATCH_LINES = 256;
const BATCH_UNITS = 1024 * 1024;

/** Imports an export, or plain messages. Rejects with the number of the line and what was done (`details.report`). */
export async function importLines(
  memory: Memory,
  lines: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const parsed = parseImport(options);
  const run = new ImportRun(memory.service, parsed);
  for await (const text of lines) {
    parsed.signal?.throwIfAborted();
    await run.take(text);
  }
  parsed.signal?.throwIfAborted();
  return run.end();
}

class ImportRun {
  readonly #service: BufferService;
  readonly #options: ParsedImport;
  readonly #tally: Tally;
  readonly #rounds = new Rounds();
  #form: "export" | "plain" | undefined;
  /** A line that is no JSON: the cut end of a file, unless others follow. */
  #broken: number | undefined;
  #seen: { -readonly [type in BodyType]: number } = { ...NO_COUNTS };
  #hasEnded = false;
  /** The one space that goes into another. */
  #moved: string | undefined;
  #batch: Numbered<BodyInput>[] = [];
  #batchUnits = 0;

  constructor(service: BufferService, options: ParsedImport) {
    this.#service = service;
    this.#options = options;
    this.#tally = new Tally(options.onConflict);
  }

  async take(text: string): Promise<void> {
    const number = this.#tally.readLine();
    const bare = number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
    if (bare.trim() === "") return;
    try {
      await this.#take(bare, number);
    } catch (error) {
      throw await this.#stopped(error, number);
    }
  }

  async end(): Promise<ImportReport> {
    try {
      await this.#write();
    } catch (error) {
      throw this.#tally.atLine(error, this.#tally.report.lines);
    }
    if (this.#form === "plain") this.#tally.isComplete = this.#broken === undefined;
    this.#options.onProgress?.(this.#tally.report);
    return this.#tally.report;
  }

  async #take(text: string, number: number): Promise<void> {
    if (this.#broken !== undefined) throw notJson(this.#broken);
    const fields = jsonOf(text);
    if (!fields) {
      this.#broken = number;
      return;
    }
    const line = this.#parse(fields, number);
    if (line) await this.#push({ number, line }, text.length);
  }

  #parse(fields: Fields, number: number): BodyInput | undefined {
    const now = this.#service.clock.now();
    if (this.#form === undefined) {
      this.#form = isHeader(fields) ? "export" : "plain";
      if (this.#form === "export") return void checkHeader(fields);
    }
    if (this.#form === "plain") return this.#placed(parsePlain(fields, number, this.#options.scope, now));
    if (this.#hasEnded) throw invalid("it", "comes after the end line", "import files one by one");
    const line = parseLine(fields, now);
    if (line.type === "cursor") return undefined;
    if (line.type === "end") return void this.#close(line.counts);
    this.#seen[line.type]++;
    return this.#placed(line);
  }

  #close(counts: Counts): void {
    this.#hasEnded = true;
    this.#tally.isComplete = Object.entries(counts).every(([type, count]) => this.#seen[type as BodyType] === count);
  }

  /** The line with the space that it goes to; undefined if it is left out. */
  #placed(line: BodyInput): BodyInput | undefined {
    const { only, into } = this.#options;
    const space = line.type === "entry" ? ({ [line.kind]: line.name } as unknown as SpaceRef) : line.space;
    const isLeftOut = !only(space) || (line.type === "entry" && into !== undefined);
    if (isLeftOut) {
      this.#tally.count("skipped");
      return undefined;
    }
    if (line.type === "entry") {
      this.#check(space, "entry");
      return line;
    }
    if (into) this.#move(space);
    this.#check(into ?? space, "owner");
    if ("agent" in line && line.agent !== undefined) this.#check({ agent: line.agent }, "agent");
    return this.#withoutStranger(into ? { ...line, space: into } : line);
  }

  /** A promotion's origin is only named if it might be written: the log tells whether a space exists, and how it is called. */
  #withoutStranger(line: BodyInput): BodyInput {
    if (line.type !== "promotion" || line.from === undefined || this.#options.allow(line.from, "owner")) return line;
    const { from: _, ...rest } = line;
    return rest;
  }

  #move(space: SpaceRef): void {
    const name = spaceName(space);
    this.#moved ??= name;
    if (name !== this.#moved) {
      throw invalid("space", "is the second one of the file", "`into` takes one space: choose it with `only`");
    }
  }

  #check(space: SpaceRef, as: "owner" | "agent" | "entry"): void {
    if (this.#options.allow(space, as)) return;
    throw new HoldfastError("forbidden", `it names a space that may not be written (${as})`, {
      hint: "import it with a key that covers the space, or leave the space out with `only`",
      details: { space },
    });
  }

  async #push(line: Numbered<BodyInput>, units: number): Promise<void> {
    const isOther = this.#batch[0]?.line.type !== line.line.type;
    const isFull = this.#batch.length >= BATCH_LINES || this.#batchUnits + units > BATCH_UNITS;
    if (this.#batch.length > 0 && (isOther || isFull)) await this.#write();
    this.#batch.push(line);
    this.#batchUnits += units;
  }

  async #write(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#batchUnits = 0;
    this.#options.signal?.throwIfAborted();
    await writeBatch(this.#service, batch, this.#rounds, this.#tally);
    this.#options.onProgress?.(this.#tally.report);
  }

  /** What stands before a wrong line is written; then the error says where it stopped and what was done. */
  async #stopped(error: unknown, number: number): Promise<unknown> {
    try {
      await this.#write();
    } catch (cause) {
      return this.#tally.atLine(cause, number);
    }
    return this.#tally.atLine(error, number);
  }
}

/** All lines of a batch are of one type. */
function writeBatch(
  service: BufferService,
  batch: readonly Numbered<BodyInput>[],
  rounds: Rounds,
  tally: Tally,
): Promise<void> {
  const of = <T extends BodyInput>() => batch as readonly Numbered<BodyInput>[] as readonly Numbered<T>[];
  switch (batch[0]?.line.type) {
    case "entry":
      return importEntries(service, of(), tally);
    case "session":
      return importSessions(service, of(), tally);
    case "block":
      return importBlocks(service, of(), tally);
    case "fact":
      return importFacts(service, of(), tally);
    case "superseded":
      return importSuperseded(service, of(), tally);
    case "promotion":
      return importPromotions(service, of(), tally);
    default:
      return importItems(service, of(), rounds, tally);
  }
}
