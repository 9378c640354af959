/** A space in memory: its registry entry, its items with their words, its sessions, and what agents edit and carry. */
import type { Entry, SessionEntry, SpaceKind, SpaceRef } from "../../types.js";
import type { Ledger } from "../ledger.js";
import { Answers } from "./answers.js";
import type { BlockRecord } from "./blocks.js";
import type { FactRecord } from "./fact-records.js";
import type { PromotionRecord } from "./promotions.js";
import { Relation } from "./relation.js";
import type { Row } from "./row.js";
import { Words } from "./words.js";

export class Space {
  entry: Entry;
  /** Place in the order of registration. */
  readonly order: number;
  version = 0;
  readonly rows = new Map<string, Row>();
  readonly sessions = new Map<string, Session>();
  readonly words = new Words();
  readonly answers = new Answers();
  readonly blocks = new Map<string, BlockRecord>();
  readonly facts = new Map<string, FactRecord>();
  /** The ids of the facts that rest on a message (by its id) or on a session. */
  readonly resting = new Relation<string | Session, string>();
  /** The promotions into this space, by their numbers. */
  readonly promotions = new Map<number, PromotionRecord>();
  /** By the id of an item or fact: where copies of it are, and where it was copied from, as long as both are there. */
  readonly copies = new Relation<string, Space>();
  readonly originals = new Relation<string, Space>();

  constructor(entry: Entry, order: number) {
    this.entry = entry;
    this.order = order;
  }

  get ref(): SpaceRef {
    return spaceRef(this.entry.kind, this.entry.name);
  }
}

export interface Session {
  /** The registry entry; its space is read from the space, which may be renamed. */
  entry: Omit<SessionEntry, "space">;
  readonly order: number;
  /** The sequence of the next message. Only ever grows, so that no sequence is given twice. */
  nextSequence: number;
  ledger: Ledger;
  /** Up to which sequence facts were extracted. */
  extracted: number;
}

export function spaceRef(kind: SpaceKind, name: string): SpaceRef {
  if (kind === "user") return { user: name };
  return kind === "agent" ? { agent: name } : { team: name };
}

export function spaceName(ref: SpaceRef): { readonly kind: SpaceKind; readonly name: string } {
  if ("user" in ref) return { kind: "user", name: ref.user };
  return "agent" in ref ? { kind: "agent", name: ref.agent } : { kind: "team", name: ref.team };
}
