/** Two people, their team, and the memory of each: every text says whose it is. */
import type { Memory, OpenOptions, Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { open } from "../support/opened.js";

export const NOON = Date.UTC(2026, 10, 15, 12);
export const ADA = { user: "ada" };
export const BOB = { user: "bob" };
export const CREW = { team: "crew" };

export interface Company {
  readonly clock: FakeClock;
  readonly memory: Memory;
  /** Each in their own space, with a grant to the team. */
  readonly ada: Session;
  readonly bob: Session;
  readonly crew: Session;
}

export async function gather(options: OpenOptions = {}): Promise<Company> {
  const clock = new FakeClock(NOON);
  const memory = await open({ path: ":memory:", clock, ...options });
  const grants = { grants: [CREW] };
  const company: Company = {
    clock,
    memory,
    ada: memory.session({ ...ADA, session: "s" }, grants),
    bob: memory.session({ ...BOB, session: "s" }, grants),
    crew: memory.session({ ...CREW, session: "s" }),
  };
  for (const [owner, session] of [
    ["ada", company.ada],
    ["bob", company.bob],
    ["crew", company.crew],
  ] as const) {
    await session.add([{ id: `${owner} note`, role: "user", content: `the orchid plan of ${owner}` }]);
    await session.facts.upsert({ category: "plan", content: `orchid fact of ${owner}`, pinned: true, source: {} });
    await session.blocks.create({ name: "notes", content: `orchid block of ${owner}` });
  }
  return company;
}

/** The owners of its texts. */
export function ownersIn(value: unknown): readonly string[] {
  const text = JSON.stringify(value);
  return ["ada", "bob", "crew"].filter((owner) => text.includes(` of ${owner}`));
}
