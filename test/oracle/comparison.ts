/** Services on one file, and a plain list of what exists: both must give the same answers. */
import type { Hits, ItemPatch, Memory, NewItem, NewMessage, QueryOptions, Scope, Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { expect } from "vitest";
import { until } from "../support/until.js";
import { checkAnswer, checkTexts } from "./check.js";
import {
  AGENT_SLOTS,
  Conversation,
  isVisible,
  type Row,
  refOf,
  SESSION_SLOTS,
  type SpaceState,
} from "./conversation.js";
import { type Draft, type Operation, type Question, START, type Write } from "./operations.js";
import { type Asked, Oracle } from "./oracle.js";
import { openService, type Setting } from "./service.js";

const DAY = 86_400_000;
/** The number of pending items that are embedded before a question; with more, the answer may be partial. */
const TAIL_MAX = 16;
/** At least as long as an announcement waits for more typing. */
const TYPING_MS = 200;
/** Bounded, because some answers are never made ahead, such as those that depend on the clock. */
const ANNOUNCED_LOOKS = 50;

/** What occurred over all runs, to verify the coverage. */
export interface Tally {
  answers: number;
  partial: number;
  cached: number;
  victims: number;
  /** Answers that were made ahead of time. */
  ahead: number;
  searched: number;
}

/** A question with the current names: for the service, and for the oracle. */
interface Put {
  readonly scope: Scope;
  readonly options: QueryOptions;
  readonly asked: Asked;
}

export class Comparison {
  readonly #path: string;
  readonly #setting: Setting;
  readonly #tally: Tally;
  readonly #clock = new FakeClock(START);
  readonly #conversation = new Conversation();
  readonly #oracle: Oracle;
  readonly #memories: Memory[] = [];
  readonly #questions: Question[] = [];
  /** Items that may be pending, by id. */
  readonly #waiting = new Set<string>();

  constructor(path: string, setting: Setting, tally: Tally) {
    this.#path = path;
    this.#setting = setting;
    this.#tally = tally;
    this.#oracle = new Oracle(this.#conversation, setting.strategy);
  }

  async open(services: number): Promise<void> {
    for (let at = 0; at < services; at++) this.#memories.push(await this.#open());
  }

  #open(): Promise<Memory> {
    return openService({ path: this.#path, clock: this.#clock, ...this.#setting });
  }

  async close(): Promise<void> {
    for (const memory of this.#memories) {
      const { answers, victims, ahead, misses, queries } = memory.service.buffers.query;
      this.#tally.cached += answers.hits;
      this.#tally.victims += victims.hits;
      this.#tally.ahead += ahead.hits;
      this.#tally.searched += misses;
      expect(queries).toBeGreaterThanOrEqual(answers.hits + misses);
      await memory.close();
    }
  }

  async run(operation: Operation): Promise<void> {
    switch (operation.do) {
      case "write":
        return this.#write(this.#memory(operation.by), operation.write);
      case "wait":
        return this.#clock.set(this.#now + operation.ms);
      case "pass":
        return this.#pass(operation.minutes);
      case "flush":
        return this.#flush(operation.by);
      case "reopen":
        return this.#reopen(operation.by);
      case "ask":
        this.#questions.unshift(operation.question);
        return this.#ask(operation.by, operation.question);
      case "again":
        return this.#again(operation.by, operation.which);
      case "announce":
        return this.#announce(operation);
      case "race":
        return this.#race(operation.by, operation.which, operation.write);
    }
  }

  /** Every question again, to every service, with nothing left to embed. */
  async finish(): Promise<void> {
    await this.#flush(0);
    for (const question of this.#questions.slice(0, 3)) {
      for (const by of this.#memories.keys()) await this.#ask(by, question);
    }
  }

  get #now(): number {
    return this.#clock.now();
  }

  #memory(by: number): Memory {
    return this.#memories[by % this.#memories.length] as Memory;
  }

  async #pass(minutes: number): Promise<void> {
    this.#clock.advance(minutes * 60_000);
    for (const memory of this.#memories) await memory.service.sweep();
    this.#conversation.sweep(this.#now);
  }

  /** All of them write; sessions leased by one are not available to the others. */
  async #flush(first: number): Promise<void> {
    for (const at of this.#memories.keys()) await this.#memory(first + at).flush();
    const { pending, parked } = await this.#memory(first).flush();
    expect(parked).toBe(0);
    if (pending === 0) this.#waiting.clear();
  }

  async #reopen(by: number): Promise<void> {
    const at = by % this.#memories.length;
    await this.#memory(by).close();
    this.#memories[at] = await this.#open();
  }

  async #again(by: number, which: number): Promise<void> {
    const question = this.#questions[which % Math.max(1, this.#questions.length)];
    if (question) await this.#ask(by, question);
  }

  /** The answer made ahead may be ready, outdated, or still in the making, when the question is asked. */
  async #announce({ by, which, write, settled, late }: Extract<Operation, { readonly do: "announce" }>): Promise<void> {
    await this.#write(this.#memory(by), write);
    if (settled) await this.#flush(by);
    const question = this.#questions[which % Math.max(1, this.#questions.length)];
    if (!question) return;
    const { scope, options } = this.#put(question);
    const made = () => this.#memory(by).service.buffers.speculative?.predictors.anticipate?.issued ?? 0;
    const before = made();
    await this.#memory(by).session(scope, grantsFor(options)).anticipate(question.text, options);
    this.#clock.advance(TYPING_MS);
    for (let looks = 0; looks < ANNOUNCED_LOOKS && made() === before; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 1)); // the threads' time
      this.#clock.advance(1); // what waits for embedding begins after it
    }
    if (late) await this.#write(this.#memory(by + 1), late);
    await this.#ask(by, question);
  }

  /** While something is written an answer may or may not show it, but nothing else; afterwards it must. */
  async #race(by: number, which: number, write: Write): Promise<void> {
    const question = this.#questions[which % Math.max(1, this.#questions.length)];
    if (!question) return this.#write(this.#memory(by), write);
    const { scope, options } = this.#put(question);
    const before = this.#texts();
    const asking = this.#memory(by).session(scope, grantsFor(options)).query(question.text, options);
    await this.#write(this.#memory(by + 1), write);
    checkTexts(await asking, [...before, ...this.#texts()]);
    await this.#ask(by, question);
  }

  #texts(): readonly string[] {
    return this.#conversation.rows.map(({ id, version, content }) => `${id} ${version} ${content}`);
  }

  async #ask(by: number, question: Question): Promise<void> {
    const { scope, options, asked } = this.#put(question);
    const session = this.#memory(by).session(scope, grantsFor(options));
    const ask = () => session.query(question.text, options);
    let hits: Hits = await ask();
    const waiting = this.#conversation.rows.filter(
      ({ id, space }) => this.#waiting.has(id) && asked.spaces.includes(space),
    );
    this.#tally.answers++;
    if (hits.partial && waiting.length > TAIL_MAX) {
      this.#tally.partial++;
      checkTexts(hits, this.#texts());
      await this.#flush(by);
    }
    // The vectors of a space may take a moment to load on a busy machine.
    await until(async () => {
      if (hits.partial) hits = await ask();
      return !hits.partial;
    });
    expect(hits.degraded).toBeUndefined();
    checkAnswer(hits, await this.#oracle.answer(asked, this.#now), scope, options);
  }

  #put(question: Question): Put {
    const { text, space, session, agent, spaces, ghost, sessions, agents, within, fields, from, to, askedAt, shown } =
      question;
    const own = this.#conversation.space(space);
    const scope = this.#scope(own, session, agent);
    const named = spaces?.map((slot) => this.#conversation.space(slot));
    const hasGhost = named !== undefined && ghost;
    const ghostRef = () => refOf({ ...this.#conversation.space(0), name: this.#conversation.otherSpaceName(0) });
    const sessionNames = sessions?.map((slot) => this.#conversation.sessionName(own, slot));
    const agentNames = agents?.map((slot) => this.#conversation.agent(slot).name);
    const narrowing =
      (within === "session" && scope.session !== undefined) ||
      (within === "agent" && scope.agent !== undefined) ||
      within === "user";
    const instants = {
      ...(from !== undefined && { from: START - from * DAY }),
      ...(to !== undefined && { to: START - to * DAY }),
      ...(askedAt !== undefined && { askedAt: START - askedAt * DAY }),
    };
    const inSessions = narrowing && within === "session" ? [String(scope.session)] : sessionNames;
    const byAgents = narrowing && within === "agent" ? [String(scope.agent)] : agentNames;
    return {
      scope,
      options: {
        ...fields,
        ...instants,
        ...shown,
        ...(named && { spaces: [...named.map(refOf), ...(hasGhost ? [ghostRef()] : [])] }),
        ...(sessionNames && { session: sessionNames }),
        ...(agentNames && { agent: agentNames }),
        ...(narrowing && { within }),
      },
      asked: {
        text,
        spaces: named ?? [own],
        ...fields,
        ...instants,
        recency: shown.recency ?? 0,
        ...(inSessions && { sessions: inSessions }),
        ...(byAgents && { agents: byAgents }),
      },
    };
  }

  #scope(space: SpaceState, session: number | undefined, agent: number | undefined): Scope {
    return {
      ...refOf(space),
      space: space.kind,
      ...(session !== undefined && { session: this.#conversation.sessionName(space, session % SESSION_SLOTS) }),
      ...(agent !== undefined && { agent: this.#conversation.agent(agent % AGENT_SLOTS).name }),
    };
  }

  // Writes.

  async #write(memory: Memory, write: Write): Promise<void> {
    switch (write.do) {
      case "add":
        return this.#add(memory, write);
      case "edit":
        return this.#edit(memory, write);
      case "delete":
        return this.#delete(memory, write.which);
      case "forget session":
      case "forget space":
        return this.#forget(memory, write);
      case "retain":
        return this.#retain(memory, this.#conversation.space(write.space), write.forMs);
      default:
        return this.#rename(memory, write);
    }
  }

  async #add(memory: Memory, { space, session, agent, items }: Write & { do: "add" }): Promise<void> {
    const from = Number(this.#conversation.nextId().slice(1));
    const made = items.map((draft, at) => this.#itemFrom(draft, `m${from + at}`));
    const scope = memory.session(this.#scope(this.#conversation.space(space), session, agent));
    await addTo(scope, made);
    this.#conversation.add(space, session, agent, made, this.#now);
    for (const { id } of made) this.#waiting.add(String(id));
  }

  #itemFrom({ agoMs, livesMs, ...draft }: Draft, id: string): NewItem {
    const expiry = livesMs !== undefined && this.#expires && { expiresAt: this.#now + livesMs };
    return { ...draft, id, occurredAt: this.#now - agoMs, ...expiry };
  }

  /**
   * Expired items stay in the vectors of messages that borrowed from them until they are swept, so nothing expires
   * there.
   */
  get #expires(): boolean {
    return this.#setting.strategy !== "contextual";
  }

  get #visible(): readonly Row[] {
    return this.#conversation.rows.filter((row) => isVisible(row, this.#now));
  }

  #row(which: number): Row | undefined {
    const visible = this.#visible;
    return visible[which % Math.max(1, visible.length)];
  }

  async #edit(memory: Memory, { which, patch, livesMs }: Write & { do: "edit" }): Promise<void> {
    const row = this.#row(which);
    if (!row) return;
    const expiry =
      livesMs === undefined || !this.#expires ? {} : { expiresAt: livesMs === null ? null : this.#now + livesMs };
    const change: ItemPatch = { ...patch, ...expiry };
    const version = await memory.session(refOf(row.space)).update(row.id, change);
    this.#conversation.edit(row, change, this.#now);
    expect(version).toBe(row.version);
    this.#touch(row);
  }

  /** Its text may be in the chunks of later messages of its session. */
  #touch({ id, session, sequence = 0 }: Row): void {
    this.#waiting.add(id);
    if (this.#setting.strategy !== "contextual" || !session) return;
    for (const row of this.#conversation.rows)
      if (row.session === session && Number(row.sequence) > sequence) this.#waiting.add(row.id);
  }

  async #delete(memory: Memory, which: readonly number[]): Promise<void> {
    const rows = new Set(which.flatMap((one) => this.#row(one) ?? []));
    const [first] = rows;
    if (!first) return;
    const gone = [...rows].filter(({ space }) => space === first.space);
    for (const row of gone) this.#touch(row);
    const receipt = await memory.session(refOf(first.space)).delete(gone.map(({ id }) => id));
    expect(receipt.items).toBe(gone.length);
    this.#conversation.remove((row) => gone.includes(row));
  }

  async #forget(memory: Memory, write: Write & { do: "forget session" | "forget space" }): Promise<void> {
    const space = this.#conversation.space(write.space);
    if (write.do === "forget space") {
      await memory.forget(refOf(space));
      return this.#conversation.forgetSpace(space);
    }
    await memory.forget({ ...refOf(space), session: this.#conversation.sessionName(space, write.session) });
    this.#conversation.forgetSession(space, write.session);
  }

  async #retain(memory: Memory, space: SpaceState, forMs: number | null): Promise<void> {
    if (!space.exists || !this.#expires) return;
    const entries = space.kind === "user" ? memory.users : memory.teams;
    await entries.retain(space.name, forMs);
    space.retentionMs = forMs ?? undefined;
  }

  async #rename(memory: Memory, write: Write & { do: `rename ${string}` }): Promise<void> {
    if (write.do === "rename agent") {
      const agent = this.#conversation.agent(write.agent);
      const name = this.#conversation.otherAgentName(write.agent);
      if (!agent.exists) return;
      await memory.agents.rename(agent.name, name);
      agent.name = name;
      return;
    }
    const space = this.#conversation.space(write.space);
    if (write.do === "rename space") {
      if (!space.exists) return;
      const name = this.#conversation.otherSpaceName(write.space);
      await (space.kind === "user" ? memory.users : memory.teams).rename(space.name, name);
      space.name = name;
      return;
    }
    const session = space.sessions.get(write.session);
    if (!session) return;
    const name = this.#conversation.otherSessionName(write.session, session);
    await memory.sessions.rename(refOf(space), session.name, name);
    session.name = name;
  }
}

async function addTo(session: Session, items: readonly NewItem[]): Promise<void> {
  if (String(items[0]?.kind) !== "message") await session.addItems(items);
  else await session.add(items.map(({ kind: _kind, ...message }) => message as NewMessage));
}

const grantsFor = ({ spaces }: QueryOptions) => ({ ...(spaces && { grants: spaces }) });
