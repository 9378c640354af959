/** A session handle on the scope's whole space. */
import type { Session } from "../session.js";
import type { ToolContext } from "./tool.js";

export function wholeSpace({ session, memory }: Pick<ToolContext, "session" | "memory">): Session {
  const { session: _, ...scope } = session.scope;
  return memory.session(scope);
}
