/** What a lane holds, and what each operation makes of that: a whole step, or none. */
import {
  type CarriedOperation,
  confidenceOf,
  factOf,
  headOf,
  isArchive,
  lineOf,
  messageOf,
  reasonOf,
} from "./carried-operation.js";
import { digest } from "./operation.js";

export interface BlockState {
  readonly content: string;
  readonly version: number;
  /** From the first version on, the texts as digests. */
  readonly log: readonly {
    readonly version: number;
    readonly old: string;
    readonly new: string;
    readonly reason: string;
  }[];
}

export interface FactState {
  readonly state: "holds" | "ended" | "retracted";
  readonly confidence: number;
  readonly version: number;
  /** The operations between which it held, 0 for the clock; of a retracted fact neither counts. */
  readonly spans: readonly { readonly from: number; readonly to?: number; readonly by?: string }[];
  readonly sources: readonly string[];
}

export interface LaneState {
  /** In order. */
  readonly messages: readonly string[];
  readonly blocks: { readonly [name: string]: BlockState };
  /** What has overflowed from blocks. */
  readonly overflow: readonly string[];
  /** By text. */
  readonly facts: { readonly [text: string]: FactState };
  /** By id, with the operation that stored it last. */
  readonly points: { readonly [id: string]: number };
  /** What stands in the window, as texts. */
  readonly window: readonly string[];
  readonly resets: number;
}

export const EMPTY: LaneState = {
  messages: [],
  blocks: {},
  overflow: [],
  facts: {},
  points: {},
  window: [],
  resets: 0,
};

const SESSION = "the session";

/** What is searched, listed, and given by a context: messages, overflow, and facts that hold. */
export const shown = ({ messages, overflow, facts }: LaneState): readonly string[] => [
  ...messages,
  ...overflow,
  ...Object.keys(facts).filter((text) => facts[text]?.state === "holds"),
];

export function after(state: LaneState, operation: CarriedOperation): LaneState {
  const { op } = operation;
  const { blocks, facts } = state;
  switch (operation.kind) {
    case "create":
      return withBlock(state, operation.name, op, firstLine(operation.name, op));
    case "drop": {
      const { [operation.name]: _, ...others } = blocks;
      return { ...state, blocks: others };
    }
    case "edit":
      return operation.how === "append"
        ? withLine(state, operation.name, op)
        : withBlock(state, operation.name, op, firstLine(operation.name, op));
    case "learn": {
      const { supersedes } = operation;
      const old = supersedes === undefined ? undefined : facts[supersedes];
      const ended = old && supersedes !== undefined ? { [supersedes]: ending(old, op, factOf(op)) } : {};
      return { ...state, facts: { ...facts, ...ended, [factOf(op)]: newFact(op, op, SESSION) } };
    }
    case "repeat":
      return withFact(state, operation.fact, (fact) => repeated(fact, confidenceOf(op)));
    case "end":
      return withFact(state, operation.fact, (fact) => ending(fact, op));
    case "retract":
      return withFact(state, operation.fact, (fact) => ({
        ...fact,
        state: "retracted",
        spans: [],
        version: fact.version + 1,
      }));
    case "context":
      return { ...state, window: shown(state) };
    case "reset":
      return { ...state, window: [], resets: state.resets + 1 };
    case "turn": {
      const edited = withLine(state, operation.name, op);
      const message = messageOf(op);
      return {
        ...edited,
        messages: [...state.messages, message],
        facts: { ...facts, [factOf(op)]: newFact(op, 0, message) },
        points: { ...state.points, [operation.name]: op },
      };
    }
    case "forget":
      return EMPTY;
  }
}

const newFact = (op: number, from: number, source: string): FactState => ({
  state: "holds",
  confidence: confidenceOf(op),
  version: 1,
  spans: [{ from }],
  sources: [source],
});

function repeated(fact: FactState, confidence: number): FactState {
  const isKnown = fact.confidence === confidence && fact.sources.includes(SESSION);
  if (fact.state === "retracted" || isKnown) return fact;
  const sources = [...new Set([...fact.sources, SESSION])];
  return { ...fact, confidence, sources, version: fact.version + 1 };
}

function ending(fact: FactState, to: number, by?: string): FactState {
  const spans = fact.spans.map(({ from }) => ({ from, to, ...(by !== undefined && { by }) }));
  return { ...fact, state: "ended", spans, version: fact.version + 1 };
}

function withFact(state: LaneState, text: string, change: (fact: FactState) => FactState): LaneState {
  const fact = state.facts[text];
  return fact ? { ...state, facts: { ...state.facts, [text]: change(fact) } } : state;
}

const firstLine = (name: string, op: number): string => (isArchive(name) ? headOf(op) : lineOf(op));

function withLine(state: LaneState, name: string, op: number): LaneState {
  const { content = "" } = state.blocks[name] ?? {};
  if (!isArchive(name)) return withBlock(state, name, op, `${content}\n${lineOf(op)}`);
  const kept = content.endsWith("\n") ? content : `${content}\n`;
  return { ...withBlock(state, name, op, kept), overflow: [...state.overflow, lineOf(op)] };
}

function withBlock(state: LaneState, name: string, op: number, content: string): LaneState {
  const { content: old = "", version: before = 0, log = [] } = state.blocks[name] ?? {};
  const version = before + 1;
  const edit = { version, old: digest(old), new: digest(content), reason: reasonOf(op) };
  return { ...state, blocks: { ...state.blocks, [name]: { content, version, log: [...log, edit] } } };
}
