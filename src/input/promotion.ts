/** Parses a promotion: which items, into which space, and why. */
import { spaceKey } from "../space-key.js";
import type { PromoteWrite } from "../stores/promotions.js";
import type { SpaceRef } from "../types.js";
import { parseIds, type WriteOptions } from "./call.js";
import { parseText } from "./content.js";
import type { PageOptions } from "./page.js";
import { invalid, objectWith, wrongType } from "./refusal.js";
import { actorOf, type ParsedScope, parseSpace } from "./scope.js";

/** The options of `session.promote`. */
export interface PromoteOptions extends WriteOptions {
  /** The space that receives copies of the items. */
  readonly to: SpaceRef;
  /** The reason, which is kept in the log. */
  readonly reason: string;
  /** The actor. Default: the scope's agent, or else its space. */
  readonly actor?: string;
}

export type PromotionsOptions = PageOptions;

const KEYS: ReadonlySet<string> = new Set(["to", "reason", "actor"]);
const PAGE_KEYS: ReadonlySet<string> = new Set(["limit", "cursor"]);

export function parsePromotion(place: ParsedScope, ids: unknown, options: unknown): PromoteWrite {
  const fields = objectWith(options, KEYS, "options");
  const to = parseSpace(fields["to"], "options.to");
  if (spaceKey(to) === spaceKey(place.space)) {
    throw invalid("options.to", "is the space that the items are in", "name the space that is to have them as well");
  }
  const wanted = parseIds(ids);
  if (wanted.length === 0) throw invalid("ids", "must name at least one item");
  return {
    op: "promote",
    from: place.space,
    to,
    ids: wanted,
    ...(place.agent !== undefined && { agent: place.agent }),
    actor: fields["actor"] === undefined ? actorOf(place) : parseLine(fields["actor"], "options.actor"),
    reason: parseLine(fields["reason"], "options.reason"),
  };
}

export function parsePromotions(options: unknown): PageOptions {
  return objectWith(options ?? {}, PAGE_KEYS, "options");
}

function parseLine(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  return parseText(value, where);
}
