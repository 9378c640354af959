/**
 * The loops of an agent that `bench:speculation` replays. A loop is a list of calls, determined by the data and a seed
 * and independent of the answers, so that all sides make the same calls.
 *
 * A turn is: the user's message is added → the context for it → the assistant's message is added. Questions follow some
 * turns; the loop's habit decides which kind is frequent.
 */
import type { NewMessage } from "holdfast";
import { randomFrom } from "./data.js";
import type { RecallData, RecallTurn } from "./recall-data.js";

/**
 * follow-up: a question of the data set, or the next user message · page: a question and its next two pages · topic: the
 * loop's two recurring questions, one after the other · joined: the three newest messages as one text, right after the
 * user's · announced: a question that the application announced while it was typed.
 */
export const ASKS = ["follow-up", "page", "topic", "joined", "announced"] as const;
export type AskKind = (typeof ASKS)[number];

interface In {
  readonly session: string;
}

export type Call =
  | (In & { readonly do: "add"; readonly message: NewMessage })
  | (In & { readonly do: "context"; readonly query: string })
  | (In & { readonly do: "query"; readonly ask: AskKind; readonly text: string; readonly offset: number });

export interface Loop {
  readonly user: string;
  /** What the memory contains before the loop begins. Equal for all loops of a user. */
  readonly history: readonly RecallTurn[];
  readonly calls: readonly Call[];
}

/** Loops per round. */
export const LOOPS = 4;
const HISTORY = 200;
/** The share of turns that are followed by questions of each kind, and by those of the loop's habit. */
const ASK_SHARES: { readonly [ask in AskKind]: number } = {
  "follow-up": 0.3,
  page: 0.1,
  topic: 0.1,
  joined: 0.1,
  announced: 0.1,
};
const HABITS = ["follow-up", "page", "topic", "joined"] as const;
const HABIT_SHARE = 0.5;
const NEXT_MESSAGE_SHARE = 0.5;
const PAGE = 10;
const PAGES = 3;
const JOINED = 3;

/** The loops of one round. Each data set has an equal number of loops, each loop another stretch of a conversation. */
export function planRound(data: readonly RecallData[], round: number, turns: number): readonly Loop[] {
  return Array.from({ length: LOOPS }, (_, at) => {
    const set = data[at % data.length] as RecallData;
    const place = round * Math.ceil(LOOPS / data.length) + Math.floor(at / data.length);
    return planLoop(set, { place, turns, habit: HABITS[(at + round) % HABITS.length] as AskKind });
  });
}

interface LoopPlan {
  /** The number of this loop among those of its data set. */
  readonly place: number;
  readonly turns: number;
  readonly habit: AskKind;
}

type Exchange = readonly [RecallTurn, RecallTurn];

function planLoop({ turns: all, questions }: RecallData, { place, turns, habit }: LoopPlan): Loop {
  const users = [...new Set(all.map(({ conversation }) => conversation))];
  const user = users[place % users.length] as string;
  const said = all.filter(({ conversation }) => conversation === user);
  const exchanges = exchangesOf(said.slice(HISTORY));
  const from = (Math.floor(place / users.length) * turns) % Math.max(1, exchanges.length - turns);
  const random = randomFrom(place + 1);
  const asked = questions.filter(({ conversation }) => conversation === user).map(({ text }) => text);
  const pick = (): string => asked[Math.floor(random() * asked.length)] ?? user;
  const topics = [pick(), pick()];

  const asks = (ask: AskKind, session: string, next: string): readonly Call[] => {
    const query = (text: string, offset = 0): Call => ({ do: "query", ask, session, text, offset });
    if (ask === "follow-up") return [query(random() < NEXT_MESSAGE_SHARE ? next : pick())];
    if (ask === "topic") return topics.map((text) => query(text));
    const text = pick();
    return ask === "page" ? Array.from({ length: PAGES }, (_, page) => query(text, page * PAGE)) : [query(text)];
  };

  const calls: Call[] = [];
  const newest: string[] = [];
  const add = ({ session, message }: RecallTurn, role: "user" | "assistant"): void => {
    calls.push({ do: "add", session, message: { ...message, role } });
    newest.push(message.content);
  };
  for (const [at, [spoken, reply]] of exchanges.slice(from, from + turns).entries()) {
    const { session, message } = spoken;
    const ask = random() < HABIT_SHARE ? habit : drawn(random());
    add(spoken, "user");
    if (ask === "joined") {
      const text = newest.slice(-JOINED).join("\n");
      calls.push({ do: "query", ask, session, text, offset: 0 });
    }
    calls.push({ do: "context", session, query: message.content });
    add(reply, "assistant");
    const next = exchanges[from + at + 1]?.[0].message.content ?? message.content;
    if (ask !== undefined && ask !== "joined") calls.push(...asks(ask, session, next));
  }
  return { user, history: said.slice(0, HISTORY), calls };
}

/** Pairs of consecutive turns of one session. The first of a pair is taken for the user's. */
function exchangesOf(turns: readonly RecallTurn[]): readonly Exchange[] {
  const exchanges: Exchange[] = [];
  for (let at = 0; at + 1 < turns.length; at++) {
    const [spoken, reply] = [turns[at] as RecallTurn, turns[at + 1] as RecallTurn];
    if (spoken.session !== reply.session || spoken.message.role === "assistant") continue;
    exchanges.push([spoken, reply]);
    at++;
  }
  return exchanges;
}

/** The kind of question at this point of the distribution; undefined: none. */
function drawn(share: number): AskKind | undefined {
  let sum = 0;
  return ASKS.find((ask) => {
    sum += ASK_SHARES[ask];
    return share < sum;
  });
}
