/** A fact as an item: its id follows from its category and content, so that the same fact is always the same item. */
import { createHash } from "node:crypto";
import type { BufferedWrite } from "../buffers/turn.js";
import { HoldfastError } from "../errors.js";
import { parseItems } from "../input/message.js";
import type { NewRow } from "../stores/store.js";

type UpsertFact = BufferedWrite & { op: "upsert_fact" };

export function factRow(fact: UpsertFact, now: number): NewRow {
  const { category, content, confidence, sourceSession, supersedes } = fact;
  if (typeof category !== "string" || category === "") {
    throw new HoldfastError("invalid_input", "category must be a text that is not empty", {
      hint: 'such as "preference"',
    });
  }
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
    throw new HoldfastError("invalid_input", "confidence must be a number from 0 to 1", { hint: "1 means certain" });
  }
  const id = `fact-${createHash("sha256")
    .update(JSON.stringify([category, content]))
    .digest("base64url")}`;
  const metadata = {
    category,
    confidence,
    ...(sourceSession !== undefined && { sourceSession }),
    ...(supersedes !== undefined && { supersedes }),
  };
  const [row] = parseItems([{ id, kind: "fact", content, tier: "semantic", metadata }], now).rows;
  return row as NewRow;
}
