/** Reads facts with their spans and sources. */
import type { Page, SpaceRef } from "../../types.js";
import type { Fact, FactsRequest } from "../facts.js";
import type { Registry } from "./registry.js";
import type { Statements } from "./statements.js";

export class FactReader {
  constructor(_statements: Statements, _registry: Registry) {}

  facts(_request: FactsRequest): Page<Fact> {
    throw new Error("not built");
  }

  extracted(_space: SpaceRef, _session: string): number {
    throw new Error("not built");
  }
}
