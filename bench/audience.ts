/** The writers of these trials: 50 users with 4 sessions each. */
import type { Memory, Session } from "holdfast";
import { AGENT } from "./data.js";

const USERS = 50;
const SESSIONS_PER_USER = 4;

/** The sessions, ordered so that adjacent ones belong to different users. */
export function sessionsOf(memory: Memory): readonly Session[] {
  return Array.from({ length: USERS * SESSIONS_PER_USER }, (_, at) =>
    memory.session({ user: `user-${at % USERS}`, agent: AGENT, session: `session-${Math.floor(at / USERS)}` }),
  );
}
