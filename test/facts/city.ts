/** A memory with a controlled clock, and facts about where someone lives. */
import type { Memory, NewFact, OpenOptions, Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { open } from "../support/opened.js";

export const NOON = Date.UTC(2026, 10, 15, 12);
export const DAY = 86_400_000;
export const ADA = { user: "ada", session: "monday" };

export interface Life {
  readonly clock: FakeClock;
  readonly path: string;
  readonly memory: Memory;
  readonly session: Session;
}

/** In memory if no path is given. */
export async function begin({ path = ":memory:", ...options }: OpenOptions = {}): Promise<Life> {
  const clock = new FakeClock(NOON);
  const memory = await open({ path, clock, ...options });
  return { clock, path, memory, session: memory.session(ADA) };
}

/** The same file again, with the same clock. */
export async function reopen({ clock, path, memory }: Life, options: OpenOptions = {}): Promise<Life> {
  await memory.close();
  const again = await open({ path, clock, ...options });
  return { clock, path, memory: again, session: again.session(ADA) };
}

export const livesIn = (city: string, more: Partial<NewFact> = {}): NewFact => ({
  category: "home",
  content: `Ada lives in ${city}`,
  ...more,
});

export const contents = (things: readonly { readonly content: string }[]): readonly string[] =>
  things.map(({ content }) => content);
