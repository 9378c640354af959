/**
 * The parent's record: what was acknowledged, what was in progress when the writer died, and therefore what the file
 * must contain.
 *
 * A session makes one call at a time (or several adds, in order), so its state after every acknowledged call is known
 * exactly. A call in progress may have happened or not: the file shows which, and from then on that is known too. The
 * file must contain exactly what the record says.
 */
import type { Random } from "../support/random.js";
import { Changes } from "./changes.js";
import type { Finding } from "./finding.js";
import { type Answer, clientId, digest, LANES, type Operation, type Text, textOf, textsOf } from "./operation.js";
import type { Found, Order } from "./protocol.js";

/** A message that must be there. `op` and `at` say which it was when new, `text` what it says now. */
interface Live extends Omit<Found, "digest"> {
  readonly text: Text;
}

interface LaneBook {
  readonly live: Map<string, Live>;
  next: number;
}

/** The most messages of a round that are all there or none. */
const ATOMIC = 256;

export class Ledger {
  readonly #lanes: readonly LaneBook[] = LANES.map(() => ({ live: new Map(), next: 1 }));
  /** Calls under way, in the order of their making. */
  readonly #pending = new Map<number, Operation>();
  /** Messages of adds under way that the file was found to hold, from the first of each on. */
  readonly #known = new Map<number, readonly Live[]>();
  readonly #changes = new Changes();
  #acknowledged = 0;

  /** Calls that have returned. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  get items(): number {
    return this.#lanes.reduce((sum, { live }) => sum + live.size, 0);
  }

  /** What to search for: what has changed since the last search, at most so much of it; or all that is there. */
  search(random: Random, max = Number.POSITIVE_INFINITY): Order & { order: "search" } {
    if (max === Number.POSITIVE_INFINITY) {
      for (const { live } of this.#lanes) for (const item of live.values()) this.#changes.said(item);
    }
    return this.#changes.search(random, max);
  }

  searched(unfound: readonly string[], ghosts: readonly string[]): Finding[] {
    this.#changes.clear();
    return [
      ...unfound.map((what): Finding => ({ problem: "unfound", what })),
      ...ghosts.map((what): Finding => ({ problem: "ghost", what })),
    ];
  }

  /** What is to be repeated: calls that were under way and can be told from new ones, or can be done twice. */
  get repeatable(): readonly Operation[] {
    return [...this.#pending.values()];
  }

  begin(operation: Operation): void {
    this.#pending.set(operation.op, operation);
  }

  done(op: number, answer: Answer): Finding[] {
    const operation = this.#pending.get(op);
    if (!operation) return [{ problem: "ghost", what: `answer to ${op}, which nobody asked` }];
    this.#pending.delete(op);
    this.#acknowledged++;
    const lane = this.#lane(operation.lane);
    switch (operation.kind) {
      case "add":
        return this.#added(operation, answer);
      case "update":
        if (answer.version !== operation.version + 1) {
          return [{ problem: "lost", what: `edit ${op}: version ${operation.version} became ${answer.version}` }];
        }
        this.#edit(lane, operation.id, { op, at: 0, size: operation.size });
        return [];
      case "delete":
        for (const id of operation.ids) this.#remove(lane, id);
        return [];
      case "forget":
        for (const id of [...lane.live.keys()]) this.#remove(lane, id);
        lane.next = 1;
        return [];
    }
  }

  /** An add has returned: the messages that were there already keep their places, the others take the next ones. */
  #added(operation: Operation & { kind: "add" }, { ids = [], sequences = [], repeated }: Answer): Finding[] {
    const lane = this.#lane(operation.lane);
    const texts = textsOf(operation).flat();
    const known = this.#known.get(operation.op) ?? [];
    this.#known.delete(operation.op);
    const next = lane.next;
    const expected = texts.map((_, at) => known[at]?.sequence ?? next + at - known.length);
    const findings: Finding[] = [];
    if (String(sequences) !== String(expected)) {
      findings.push({ problem: "out of order", what: `add ${operation.op}: got ${sequences}, not ${expected}` });
    }
    if (known.some(({ id }, at) => ids[at] !== id) || repeated !== (known.length === texts.length)) {
      findings.push({ problem: "duplicated", what: `add ${operation.op}: its repetition was not recognised` });
    }
    this.#settle(operation, known.length, (at) => ids[at]);
    return findings;
  }

  /** Compares the file with the books. Requires all that the file holds, in the order of arrival. */
  audit(found: readonly Found[]): Finding[] {
    const findings: Finding[] = [];
    const messages = new Map<string, Found>();
    for (const item of found) {
      const name = `lane ${item.lane}: message ${item.op}.${item.at}`;
      if (messages.has(name)) findings.push({ problem: "duplicated", what: name });
      messages.set(name, item);
    }
    const byId = new Map(found.map((item) => [`${item.lane} ${item.id}`, item]));
    for (const operation of [...this.#pending.values()]) findings.push(...this.#resolve(operation, messages, byId));
    for (const { live } of this.#lanes) for (const item of live.values()) findings.push(...compare(item, byId));
    const last = LANES.map(() => 0);
    for (const item of found) {
      const name = `lane ${item.lane}: message ${item.op}.${item.at}`;
      if (!this.#lanes[item.lane]?.live.has(item.id)) findings.push({ problem: "ghost", what: name });
      if (item.sequence <= (last[item.lane] ?? 0)) findings.push({ problem: "out of order", what: name });
      last[item.lane] = item.sequence;
    }
    return findings;
  }

  /** Finds out what became of a call that was under way. */
  #resolve(operation: Operation, messages: ReadonlyMap<string, Found>, byId: ReadonlyMap<string, Found>): Finding[] {
    const lane = this.#lane(operation.lane);
    const find = (id: string) => byId.get(`${operation.lane} ${id}`);
    switch (operation.kind) {
      case "add": {
        const rounds = textsOf(operation).map((texts) =>
          texts.map(({ op, at }) => messages.get(`lane ${operation.lane}: message ${op}.${at}`)),
        );
        const flat = rounds.flat();
        const count = flat.filter((item) => item).length;
        const prefix = flat.slice(0, count).every((item) => item);
        const halved = rounds.some(
          (round) => round.length <= ATOMIC && round.includes(undefined) && round.some(Boolean),
        );
        const findings: Finding[] =
          prefix && !halved
            ? []
            : [{ problem: "torn", what: `add ${operation.op}: ${count} of ${flat.length} are there` }];
        const known = this.#known.get(operation.op) ?? [];
        const entered = this.#settle(operation, known.length, (at) => flat[at]?.id);
        if (operation.retry === "none") this.#pending.delete(operation.op);
        else this.#known.set(operation.op, [...known, ...entered]);
        return findings;
      }
      case "update":
        if (find(operation.id)?.version === operation.version + 1) {
          this.#edit(lane, operation.id, { op: operation.op, at: 0, size: operation.size });
        }
        this.#pending.delete(operation.op);
        return [];
      case "delete":
        for (const id of operation.ids) if (!find(id)) this.#remove(lane, id);
        return [];
      case "forget":
        for (const id of [...lane.live.keys()]) if (!find(id)) this.#remove(lane, id);
        return [];
    }
  }

  /** Enters the messages of an add from the `from`th on, as far as they have an id. */
  #settle(operation: Operation & { kind: "add" }, from: number, idOf: (at: number) => string | undefined): Live[] {
    const lane = this.#lane(operation.lane);
    const entered: Live[] = [];
    for (const texts of textsOf(operation)) {
      const round = texts.length > ATOMIC ? 0 : lane.next;
      for (const text of texts) {
        const given = idOf(text.at);
        if (text.at < from || given === undefined) continue;
        const id = operation.retry === "ids" ? clientId(text) : given;
        const item = {
          lane: operation.lane,
          id,
          sequence: lane.next++,
          round,
          version: 1,
          op: text.op,
          at: text.at,
          text,
        };
        entered.push(item);
        lane.live.set(id, item);
        this.#changes.said(item);
      }
    }
    return entered;
  }

  #edit(lane: LaneBook, id: string, text: Text): void {
    const item = lane.live.get(id);
    if (!item) return;
    const edited = { ...item, text, version: item.version + 1 };
    lane.live.set(id, edited);
    this.#changes.unsaid(item);
    this.#changes.said(edited);
  }

  #remove(lane: LaneBook, id: string): void {
    const item = lane.live.get(id);
    if (!item) return;
    lane.live.delete(id);
    this.#changes.removed(item);
  }

  #lane(index: number): LaneBook {
    return this.#lanes[index] as LaneBook;
  }
}

/** One message that must be there, against what is. */
function compare(item: Live, byId: ReadonlyMap<string, Found>): Finding[] {
  const what = `lane ${item.lane}: message ${item.op}.${item.at}`;
  const found = byId.get(`${item.lane} ${item.id}`);
  if (!found || found.op !== item.op || found.at !== item.at) return [{ problem: "lost", what }];
  if (found.sequence !== item.sequence || (item.round !== 0 && found.round !== item.round)) {
    return [{ problem: "out of order", what: `${what} is ${found.sequence} of ${found.round}, not ${item.sequence}` }];
  }
  if (found.version !== item.version || found.digest !== digest(textOf(item.text))) {
    return [{ problem: "lost", what: `${what}: the edit to version ${item.version}` }];
  }
  return [];
}
