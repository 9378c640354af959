/**
 * Export: the contents of a memory as lines, with at most one page in memory.
 *
 * Invariants:
 * - An export that resumes at a cursor yields exactly the lines after it.
 * - The end line counts all lines, including those before the cursor. An export without an end line is incomplete.
 * - Nothing is locked. What changes during an export is exported in its state before or after the change.
 */
import { parseIdentity } from "../input/identity.js";
import { invalid, objectWith } from "../input/refusal.js";
import { parseSpace } from "../input/scope.js";
import type { Memory } from "../memory.js";
import type { StoreView } from "../stores/store-view.js";
import type { Entry, SpaceKind, SpaceRef } from "../types.js";
import {
  type BodyLine,
  type BodyType,
  type EntryLine,
  FORMAT,
  FORMAT_VERSION,
  type HeaderLine,
  NO_COUNTS,
} from "./format.js";
import { Pace } from "./pace.js";
import { decodeMark, encodeMark, type Position, START, selectionOf, type Walk } from "./position.js";
import { SECTIONS } from "./sections.js";

/** What to export. */
export interface ExportOptions {
  /** The spaces to export. Default: everything. */
  readonly spaces?: readonly SpaceRef[];
  /** Only this session of the single space given: its items, and nothing that belongs to the whole space. */
  readonly session?: string;
  /** Resumes after the line with this cursor. The other options must be the same as before. */
  readonly cursor?: string;
  /** Stops the export. */
  readonly signal?: AbortSignal;
}

/** A cursor line follows at the end of a page after this many lines. */
const CURSOR_LINES = 100;
const ENTRIES_PAGE = 100;
/** After the last list of spaces. */
const OVER: Walk = { list: Number.MAX_SAFE_INTEGER };
const KINDS: readonly SpaceKind[] = ["user", "agent", "team"];
const KEYS: ReadonlySet<string> = new Set(["spaces", "session", "cursor", "signal"]);

interface ExportRequest {
  readonly store: StoreView;
  readonly now: () => number;
  readonly spaces: readonly SpaceRef[] | undefined;
  readonly session: string | undefined;
}

/** Lines, and the position from which an export resumes after them. */
interface Step {
  readonly lines: readonly BodyLine[];
  readonly next: Position;
}

/** The lines of an export, each a JSON object without line breaks. */
export async function* exportLines(memory: Memory, options: ExportOptions = {}): AsyncGenerator<string, void, void> {
  const { spaces, session, cursor } = parseExport(options);
  const { service } = memory;
  const of = selectionOf(spaces, session);
  const mark = cursor === undefined ? undefined : decodeMark(cursor, of);
  const counts = { ...(mark?.counts ?? NO_COUNTS) };
  const request: ExportRequest = { store: service.store, now: () => service.clock.now(), spaces, session };
  if (!mark) yield lineOf(header(request));
  let lines = 0;
  for await (const step of steps(request, mark?.position ?? START)) {
    for (const line of step.lines) {
      options.signal?.throwIfAborted();
      counts[line.type satisfies BodyType]++;
      yield lineOf(line);
    }
    options.signal?.throwIfAborted();
    lines += step.lines.length;
    if (lines < CURSOR_LINES) continue;
    lines = 0;
    yield lineOf({ type: "cursor", cursor: encodeMark({ position: step.next, counts }, of) });
  }
  yield lineOf({ type: "end", counts });
}

/** Escapes U+2028 and U+2029, which JSON leaves as they are and some readers, including Node's, take for line breaks. */
const lineOf = (line: object): string =>
  JSON.stringify(line).replace(/[\u2028\u2029]/g, (mark) => (mark === "\u2028" ? "\\u2028" : "\\u2029"));

function parseExport(
  options: ExportOptions,
): Omit<ExportRequest, "store" | "now"> & { readonly cursor: string | undefined } {
  const fields = objectWith(options, KEYS, "options");
  const { spaces: given, session, cursor } = fields;
  if (given !== undefined && !Array.isArray(given)) throw invalid("options.spaces", "must be a list of spaces");
  const spaces = given?.map((space: unknown, at) => parseSpace(space, `options.spaces[${at}]`));
  if (session !== undefined && spaces?.length !== 1) {
    throw invalid("options.session", "needs exactly one space", "a session belongs to one space; pass it in `spaces`");
  }
  if (cursor !== undefined && typeof cursor !== "string") throw invalid("options.cursor", "must be a string");
  return { spaces, session: session === undefined ? undefined : parseIdentity(session, "options.session"), cursor };
}

const header = ({ spaces, session, now }: ExportRequest): HeaderLine => ({
  type: FORMAT,
  version: FORMAT_VERSION,
  exportedAt: now(),
  ...(spaces && { spaces }),
  ...(session !== undefined && { session }),
});

async function* steps(request: ExportRequest, start: Position): AsyncGenerator<Step> {
  let contents = start;
  if (start.stage === "entries") {
    yield* entrySteps(request, start.walk);
    contents = { stage: "contents", walk: { list: 0 } };
  }
  const pace = new Pace();
  for (let at: Position | undefined = contents; at; ) {
    const { entries, next } = await entriesAt(request, at.walk, 1);
    const after: Position = { stage: "contents", walk: next ?? OVER };
    for (const entry of entries) yield* spaceSteps(request, entry, at, after, pace);
    at = next && after;
  }
}

async function* entrySteps(request: ExportRequest, start: Walk): AsyncGenerator<Step> {
  for (let walk: Walk | undefined = start; walk; ) {
    const { entries, next } = await entriesAt(request, walk, ENTRIES_PAGE);
    const position: Position = next ? { stage: "entries", walk: next } : { stage: "contents", walk: { list: 0 } };
    yield { lines: entries.map(entryLine), next: position };
    walk = next;
  }
}

const entryLine = ({ kind, name, description, retentionMs }: Entry): EntryLine => ({
  type: "entry",
  kind,
  name,
  ...(description !== undefined && { description }),
  ...(retentionMs !== undefined && { retentionMs }),
});

/** The next entries, and where to continue: through all kinds, or through the requested spaces. */
async function entriesAt(
  { store, spaces }: ExportRequest,
  { list, cursor }: Walk,
  limit: number,
): Promise<{ readonly entries: readonly Entry[]; readonly next: Walk | undefined }> {
  const ref = spaces?.[list];
  const kind = spaces ? ref && kindOf(ref) : KINDS[list];
  if (kind === undefined) return { entries: [], next: undefined };
  const name = ref && { name: Object.values(ref)[0] as string };
  const page = await store.entries({ kind, ...name, limit, ...(cursor !== undefined && { cursor }) });
  const after = page.next === undefined ? { list: list + 1 } : { list, cursor: page.next };
  return { entries: page.items, next: after.list < (spaces ?? KINDS).length ? after : undefined };
}

const kindOf = (ref: SpaceRef): SpaceKind => KINDS.find((kind) => kind in ref) as SpaceKind;

/** The contents of one space, from the cursor's place if the cursor is in this space (compared by id, not by name). */
async function* spaceSteps(
  { store, now, session }: ExportRequest,
  { id, kind, name }: Entry,
  here: Position,
  after: Position,
  pace: Pace,
): AsyncGenerator<Step> {
  const space = { [kind]: name } as unknown as SpaceRef;
  const sections = SECTIONS.filter(({ ofSession }) => session === undefined || ofSession);
  const isWithin = here.space === id;
  const first = isWithin ? sections.findIndex((section) => section.name === here.section) : 0;
  let cursor = isWithin ? here.cursor : undefined;
  for (const [at, section] of sections.entries()) {
    if (at < first) continue;
    for (let isOver = false; !isOver; ) {
      const page = await section.read({ store, space, session, limit: pace.limit, cursor, now: now() });
      cursor = page.next;
      isOver = cursor === undefined;
      const following = isOver ? sections[at + 1] : section;
      const place = { stage: "contents", walk: here.walk, space: id } as const;
      const next = following && { ...place, section: following.name, ...(cursor !== undefined && { cursor }) };
      pace.learn(page.items);
      yield { lines: page.items, next: next ?? after };
    }
  }
}
