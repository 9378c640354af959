/** The calls of the books on what agents edit and carry, made of a memory. */
import type { Memory, Session } from "holdfast";
import {
  CARRIED_LANES,
  type CarriedAnswer,
  type CarriedOperation,
  COMMON,
  confidenceOf,
  factOf,
  HEAD_TOKENS,
  headOf,
  isArchive,
  lineOf,
  messageId,
  messageOf,
  POINTS,
  payloadOf,
  reasonOf,
  timeOf,
  vectorOf,
} from "./carried-operation.js";

/** Room for all that a lane holds, and time to read it. */
const AMPLE = { budgetTokens: 1_000_000, counter: "chars4", turns: 1_000, topK: 1_000, deadlineMs: 60_000 };
const CATEGORY = "habit";
const ANY_STATE = ["holds", "ended", "retracted"] as const;

export class CarriedCalls {
  readonly #memory: Memory;
  readonly #sessions: readonly Session[];

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#sessions = CARRIED_LANES.map((scope) => memory.session(scope));
  }

  async make(operation: CarriedOperation): Promise<CarriedAnswer> {
    const { op, lane } = operation;
    const session = this.#sessionOf(lane);
    const reason = reasonOf(op);
    switch (operation.kind) {
      case "create":
        return { version: (await session.blocks.create({ ...blockOf(operation.name, op), reason })).version };
      case "edit": {
        const { content } = blockOf(operation.name, op);
        const change = operation.how === "append" ? { append: lineOf(op) } : { content };
        return { version: (await session.blocks.edit(operation.name, { ...change, reason })).version };
      }
      case "drop":
        await session.blocks.delete(operation.name);
        return {};
      case "learn": {
        const supersedes = operation.supersedes === undefined ? [] : [await this.#idOf(lane, operation.supersedes)];
        const given = { category: CATEGORY, content: factOf(op), confidence: confidenceOf(op) };
        await session.facts.upsert({ ...given, supersedes, validFrom: timeOf(op) });
        return {};
      }
      case "repeat":
        await session.facts.upsert({ category: CATEGORY, content: operation.fact, confidence: confidenceOf(op) });
        return {};
      case "end":
        await session.facts.end(await this.#idOf(lane, operation.fact), { at: timeOf(op) });
        return {};
      case "retract":
        await session.facts.retract(await this.#idOf(lane, operation.fact));
        return {};
      case "context":
        return this.#context(lane);
      case "reset":
        await session.windowReset();
        return {};
      case "turn": {
        const turn = session.turn();
        const id = messageId(op);
        const fact = { category: CATEGORY, content: factOf(op), confidence: confidenceOf(op), sourceMessage: id };
        turn.push({ op: "save_message", message: { role: "user", content: messageOf(op), id } });
        turn.push({ op: "upsert_fact", ...fact });
        const point = { collection: POINTS, pointId: operation.name, vector: vectorOf(op), payload: payloadOf(op) };
        turn.push({ op: "store_embedding", ...point });
        turn.push({ op: "edit_block", block: operation.name, append: lineOf(op), reason });
        const [sequence = 0] = (await session.commit(turn)).sequences;
        return { sequence };
      }
      case "forget":
        await this.#spaceOf(lane).forget();
        return {};
    }
  }

  async #context(lane: number): Promise<CarriedAnswer> {
    const given = await this.#sessionOf(lane).context({ ...AMPLE, query: COMMON });
    const names = await this.#textsOf(lane);
    const textOf = ({ id }: { readonly id: string }): string => names.get(id) ?? `nothing of id ${id}`;
    return {
      given: [...given.added, ...given.changed].map(textOf),
      withdrawn: given.retracted.map(textOf),
      // It may be partial while vectors are still being read; by their words all are found even so.
      ...(given.degraded !== undefined && { trouble: given.degraded }),
    };
  }

  async #idOf(lane: number, text: string): Promise<string> {
    for (const [id, content] of await this.#textsOf(lane)) if (content === text) return id;
    throw new Error(`there is no fact ${text}`);
  }

  /** The texts of all items and facts of a lane's space, by id. */
  async #textsOf(lane: number): Promise<ReadonlyMap<string, string>> {
    const { items: facts } = await this.#sessionOf(lane).facts.list({ state: ANY_STATE, limit: 1_000 });
    const { items } = await this.#spaceOf(lane).list({ limit: 1_000 });
    return new Map([...facts, ...items].map(({ id, content }) => [id, content]));
  }

  #sessionOf(lane: number): Session {
    return this.#sessions[lane] as Session;
  }

  #spaceOf(lane: number): Session {
    return this.#memory.session({ user: CARRIED_LANES[lane]?.user ?? "" });
  }
}

const blockOf = (name: string, op: number) =>
  isArchive(name)
    ? ({ name, content: headOf(op), maxTokens: HEAD_TOKENS, policy: "archive" } as const)
    : { name, content: lineOf(op) };
