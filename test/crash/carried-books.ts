/**
 * The parent's record of blocks, facts, windows and turns.
 *
 * A lane makes one call at a time, so its contents are known after every call that has returned. A call in progress has
 * happened completely or not at all. Only forgetting a space takes several steps: until it is repeated, part of the
 * data may be gone.
 */
import { type CarriedFound, differences, expected } from "./carried-found.js";
import { CARRIED_LANES, type CarriedAnswer, type CarriedOperation } from "./carried-operation.js";
import { after, EMPTY, type LaneState, shown } from "./carried-state.js";
import type { Finding } from "./finding.js";

interface LaneBook {
  state: LaneState;
  underWay: CarriedOperation | undefined;
}

export class CarriedBooks {
  readonly #lanes: readonly LaneBook[] = CARRIED_LANES.map(() => ({ state: EMPTY, underWay: undefined }));
  /** Calls that have returned; calls that were under way at a kill, and of them, done all the same. */
  readonly counts = { acknowledged: 0, underWay: 0, doneUnderWay: 0 };

  /** By lane. */
  get states(): readonly LaneState[] {
    return this.#lanes.map(({ state }) => state);
  }

  /** What a killed writer has begun and the next one has to finish. */
  get unfinished(): readonly CarriedOperation[] {
    return this.#lanes.flatMap(({ underWay }) => underWay ?? []);
  }

  begin(operation: CarriedOperation): void {
    this.#lane(operation.lane).underWay = operation;
  }

  done(laneIndex: number, op: number, answer: CarriedAnswer): Finding[] {
    const lane = this.#lane(laneIndex);
    const { state, underWay } = lane;
    if (underWay?.op !== op) return [{ problem: "ghost", what: `answer to ${op}, which nobody asked` }];
    lane.underWay = undefined;
    lane.state = after(state, underWay);
    this.counts.acknowledged++;
    return wrongAnswers(state, underWay, answer).map((finding) => ({ ...finding, what: `${op}: ${finding.what}` }));
  }

  /** Compares a lane of the file with the books, and finds out what became of the call under way. */
  audit(laneIndex: number, found: CarriedFound): Finding[] {
    const lane = this.#lane(laneIndex);
    const { state, underWay } = lane;
    const named = (findings: readonly Finding[]): Finding[] =>
      findings.map(({ problem, what }) => ({ problem, what: `lane ${laneIndex}: ${what}` }));
    const before = differences(expected(state), found);
    if (!underWay) return named(before);
    if (underWay.kind === "forget") return named(auditForget(lane, found));
    this.counts.underWay++;
    lane.underWay = undefined;
    if (before.length === 0) return [];
    const next = after(state, underWay);
    const behind = differences(expected(next), found);
    if (behind.length === 0) {
      lane.state = next;
      this.counts.doneUnderWay++;
      return [];
    }
    const wrong = before.filter(({ what }) => behind.some((other) => other.what === what));
    const torn: Finding = {
      problem: "torn",
      what: `${underWay.kind} ${underWay.op}: ${before.map(({ what }) => what)}`,
    };
    return named(wrong.length > 0 ? wrong : [torn]);
  }

  #lane(index: number): LaneBook {
    return this.#lanes[index] as LaneBook;
  }
}

/** What is left of a lane must be what was there; nothing need be left. The window goes last, and may name what is gone. */
function auditForget(lane: LaneBook, found: CarriedFound): readonly Finding[] {
  if (differences(expected(EMPTY), found).length === 0) {
    lane.state = EMPTY;
    lane.underWay = undefined;
    return [];
  }
  const wrong = differences(expected(lane.state), { ...found, window: [] });
  return wrong.filter(({ problem }) => ["ghost", "duplicated", "out of order"].includes(problem));
}

/** What the caller was told, against what must have happened. */
function wrongAnswers(before: LaneState, operation: CarriedOperation, answer: CarriedAnswer): Finding[] {
  const next = after(before, operation);
  switch (operation.kind) {
    case "create":
    case "edit": {
      const version = next.blocks[operation.name]?.version;
      return answer.version === version ? [] : [{ problem: "lost", what: `version ${answer.version}, not ${version}` }];
    }
    case "turn": {
      const sequence = next.messages.length;
      if (answer.sequence === sequence) return [];
      return [{ problem: "out of order", what: `sequence ${answer.sequence}, not ${sequence}` }];
    }
    case "context":
      return wrongContext(before, answer);
    default:
      return [];
  }
}

/** It gives what is new, withdraws what holds no longer, and repeats nothing. */
function wrongContext(state: LaneState, { given = [], withdrawn = [], trouble }: CarriedAnswer): Finding[] {
  const window = new Set(state.window);
  const known = new Set(shown(state));
  const findings: Finding[] = trouble === undefined ? [] : [{ problem: "refused", what: trouble }];
  const told = new Set<string>();
  for (const text of given) {
    if (window.has(text) || told.has(text)) findings.push({ problem: "duplicated", what: `given again: ${text}` });
    else if (!known.has(text)) findings.push({ problem: "ghost", what: `given: ${text}` });
    told.add(text);
  }
  for (const text of known) {
    if (!window.has(text) && !told.has(text)) findings.push({ problem: "lost", what: `not given: ${text}` });
  }
  const gone = state.window.filter((text) => !known.has(text));
  if (String(gone.toSorted()) !== String(withdrawn.toSorted())) {
    findings.push({ problem: "lost", what: `withdrawn: ${withdrawn}, not ${gone}` });
  }
  return findings;
}
