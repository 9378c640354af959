/**
 * Import: writes the lines of an export. An import is idempotent: existing data is left as it is, so an interrupted import is
 * resumed by running it again on the same file.
 *
 * Invariants:
 * - Lines are written in order, in batches; memory holds one batch.
 * - `only` and `allow` are consulted before anything of a space is written.
 * - Existing data is never changed.
 * - The import resolves only if the file was complete and every line was read.
 */
import { setImmediate as otherCalls } from "node:timers/promises";
import { HoldfastError } from "../errors.js";
import { type Fields, invalid, wrongType } from "../input/refusal.js";
import type { Memory } from "../memory.js";
import type { BufferService } from "../service.js";
import { spaceKey } from "../space-key.js";
import { withoutMark } from "../text.js";
import type { SpaceRef } from "../types.js";
import { type BodyType, type Counts, NO_COUNTS } from "./format.js";
import { importBlocks } from "./import-blocks.js";
import { importFacts, importSuperseded } from "./import-facts.js";
import { importItems } from "./import-items.js";
import { type ImportOptions, type ParsedImport, parseImport } from "./import-options.js";
import { importPoints } from "./import-points.js";
import { importPromotions } from "./import-promotions.js";
import { importEntries, importSessions } from "./import-registry.js";
import { type BodyInput, checkHeader, isHeader, jsonOf, notJson, parseLine } from "./line.js";
import { parsePlain } from "./plain.js";
import { type ImportReport, type Numbered, Tally } from "./report.js";
import { Rounds } from "./rounds.js";

/** Equals the size of a group commit. */
const BATCH_LINES = 256;
const BATCH_UNITS = 1024 * 1024;
/** Lines between two turns of the event loop. */
const TURN_LINES = 1_024;

const isIterable = (lines: unknown): boolean =>
  typeof lines === "object" && lines !== null && (Symbol.iterator in lines || Symbol.asyncIterator in lines);

/**
 * Imports an export, or plain messages. If a line is wrong or the file is incomplete, it rejects with the line number and a
 * report (`details.report`); the lines before that one have been written.
 */
export async function importLines(
  memory: Memory,
  lines: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const parsed = parseImport(options);
  if (!isIterable(lines)) throw wrongType("lines", "an iterable of lines", lines);
  const run = new ImportRun(memory.service, parsed);
  try {
    let taken = 0;
    for await (const text of lines) {
      parsed.signal?.throwIfAborted();
      await run.take(text);
      if (++taken % TURN_LINES === 0) await otherCalls(); // lines that write nothing wait for nothing else
    }
  } catch (error) {
    throw await run.stopped(error);
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
  #seen: { -readonly [type in BodyType]: number } = { ...NO_COUNTS };
  /** The counts in the end line. */
  #counts: Counts | undefined;
  /** The single space that goes into another. */
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
    const bare = number === 1 ? withoutMark(text) : text;
    if (bare.trim() !== "") await this.#take(bare, number);
  }

  async end(): Promise<ImportReport> {
    const { lines } = this.#tally.report;
    try {
      await this.#write();
      if (this.#form !== "plain") this.#requireWhole(lines);
    } catch (error) {
      throw this.#tally.atLine(error, lines);
    }
    this.#options.onProgress?.(this.#tally.report);
    return this.#tally.report;
  }

  async #take(text: string, number: number): Promise<void> {
    const fields = jsonOf(text);
    if (!fields) throw notJson(number, text);
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
    if (this.#counts) throw invalid("it", "comes after the end line", "import one file at a time");
    const line = parseLine(fields, now);
    if (line.type === "cursor") return undefined;
    if (line.type === "end") {
      this.#counts = line.counts;
      return undefined;
    }
    this.#seen[line.type]++;
    return this.#placed(line);
  }

  /** Fails if the export was truncated or has lost lines. */
  #requireWhole(line: number): void {
    if (this.#form === undefined) throw notWhole("there is nothing to import", line);
    if (!this.#counts) throw notWhole(`the file was truncated after line ${line}: it has no end line`, line);
    const isWhole = Object.entries(this.#counts).every(([type, count]) => this.#seen[type as BodyType] === count);
    if (!isWhole) throw notWhole("the number of lines differs from the counts in the end line", line);
  }

  /** The line with its target space; undefined if it is skipped. */
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
    return this.#signed(this.#withoutHiddenOrigin(into ? { ...line, space: into } : line));
  }

  /** An importer that may not sign as others may write only its own edits, and no log entries of others. */
  #signed(line: BodyInput): BodyInput {
    const { signer } = this.#options;
    if (!signer) return line;
    if (line.type === "promotion") throw mayNotSign("it is a promotion by someone else");
    if (line.type !== "block") return line;
    const actor = line.actor ?? signer.own;
    if (actor === undefined || !signer.may(actor))
      throw mayNotSign("it is an edit by another actor, or without an actor");
    return { ...line, actor };
  }

  /** Removes a promotion's origin if the importer may not write there: the log would reveal that the space exists. */
  #withoutHiddenOrigin(line: BodyInput): BodyInput {
    if (line.type !== "promotion" || line.from === undefined || this.#options.allow(line.from, "owner")) return line;
    const { from: _, ...rest } = line;
    return rest;
  }

  #move(space: SpaceRef): void {
    const name = spaceKey(space);
    this.#moved ??= name;
    if (name !== this.#moved) {
      throw invalid("space", "is the second space of the file", "`into` takes one space; select it with `only`");
    }
  }

  #check(space: SpaceRef, as: "owner" | "agent" | "entry"): void {
    if (this.#options.allow(space, as)) return;
    throw new HoldfastError("forbidden", `it names a space that may not be written (${as})`, {
      hint: "use a key that covers the space, or exclude it with `only`",
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

  /** Writes the lines before the wrong one, then adds the line number and the report to the error. */
  async stopped(error: unknown): Promise<unknown> {
    const { lines } = this.#tally.report;
    try {
      await this.#write();
    } catch (cause) {
      return this.#tally.atLine(cause, lines);
    }
    return this.#tally.atLine(error, lines);
  }
}

const notWhole = (message: string, line: number): HoldfastError =>
  new HoldfastError("invalid_input", message, {
    hint: "the lines read so far were imported; import the complete file, nothing is added twice",
    details: { line },
  });

const mayNotSign = (message: string): HoldfastError =>
  new HoldfastError("forbidden", `${message}, and this key may sign only as its own agents`, {
    hint: "ask an admin to import it, or remove such lines",
  });

/** Requires lines of one type. */
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
    case "point":
      return importPoints(service, of(), tally);
    case "promotion":
      return importPromotions(service, of(), tally);
    default:
      return importItems(service, of(), rounds, tally);
  }
}
