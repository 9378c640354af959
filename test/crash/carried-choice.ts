/** Chooses at random what a lane does next, from what it can do with its current contents. */
import type { Random } from "../support/random.js";
import { type CarriedOperation, isArchive } from "./carried-operation.js";
import { type LaneState, shown } from "./carried-state.js";

const WEIGHTS = {
  ...{ create: 6, append: 20, rewrite: 4, drop: 3 },
  ...{ learn: 12, supersede: 8, repeat: 8, end: 4, retract: 4 },
  ...{ context: 14, reset: 3, turn: 22, forget: 1 },
};

const BLOCKS_MAX = 4;
/** A lane that holds so much more is forgotten, so that the file does not grow for ever and a context has room for all. */
const LIVE_MAX = 120;

export function choose(state: LaneState, op: number, lane: number, random: Random): CarriedOperation {
  const base = { op, lane };
  if (shown(state).length > LIVE_MAX) return { ...base, kind: "forget" };
  const names = Object.keys(state.blocks);
  // What overflowed from a block goes with it, item by item: such a drop has more than one step.
  const plain = names.filter((name) => !isArchive(name));
  const facts = Object.keys(state.facts);
  const holding = facts.filter((fact) => state.facts[fact]?.state === "holds");
  const repeatable = facts.filter((fact) => state.facts[fact]?.state !== "ended");
  // The clock said since when the others hold: how long that was cannot be foretold.
  const dated = holding.filter((fact) => state.facts[fact]?.spans[0]?.from !== 0);
  const choice = random.weighted(WEIGHTS);
  switch (choice) {
    case "append":
    case "rewrite":
      if (names.length > 0) return { ...base, kind: "edit", name: random.pick(names), how: choice };
      break;
    case "turn":
      if (names.length > 0) return { ...base, kind: "turn", name: random.pick(names) };
      break;
    case "drop":
      if (plain.length > 0) return { ...base, kind: "drop", name: random.pick(plain) };
      break;
    case "supersede":
      if (dated.length > 0) return { ...base, kind: "learn", supersedes: random.pick(dated) };
      break;
    case "repeat":
      if (repeatable.length > 0) return { ...base, kind: "repeat", fact: random.pick(repeatable) };
      break;
    case "end":
      if (dated.length > 0) return { ...base, kind: "end", fact: random.pick(dated) };
      break;
    case "retract":
      if (holding.length > 0) return { ...base, kind: "retract", fact: random.pick(holding) };
      break;
    case "create":
    case "learn":
      break;
    default:
      return { ...base, kind: choice };
  }
  return choice !== "learn" && names.length < BLOCKS_MAX
    ? { ...base, kind: "create", name: `${random.pick(["archive", "notes", "goals"])} ${op}` }
    : { ...base, kind: "learn" };
}
