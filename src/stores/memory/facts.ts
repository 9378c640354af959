/** Facts in memory. */
import type { Page, SpaceRef } from "../../types.js";
import type {
  EndFactDone,
  EndFactWrite,
  ExtractedDone,
  ExtractedWrite,
  Fact,
  FactsRequest,
  PutFactDone,
  PutFactWrite,
} from "../facts.js";
import type { Attempt } from "./attempt.js";
import type { State } from "./state.js";

export function putFact(_write: PutFactWrite, _state: State, _attempt: Attempt): PutFactDone {
  throw new Error("not built");
}

export function endFact(_write: EndFactWrite, _state: State, _attempt: Attempt): EndFactDone {
  throw new Error("not built");
}

export function noteExtracted(_write: ExtractedWrite, _state: State, _attempt: Attempt): ExtractedDone {
  throw new Error("not built");
}

export function facts(_request: FactsRequest, _state: State): Page<Fact> {
  throw new Error("not built");
}

export function extracted(_space: SpaceRef, _session: string, _state: State): number {
  throw new Error("not built");
}
