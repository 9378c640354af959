/** The scope's whole space: the same place, without the session. */
import type { Session } from "../session.js";
import type { Workplace } from "./tool.js";

export function wholeSpace({ session, memory }: Pick<Workplace, "session" | "memory">): Session {
  const { session: _, ...scope } = session.scope;
  return memory.session(scope);
}
