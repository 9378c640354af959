/** A graph as the lines of the reference server's memory file: entities first, then relations, each in their order. */
import { GraphItems, type GraphSession } from "./graph-items.js";
import { entityLine, relationLine } from "./graph-line.js";

/** Lines without line breaks; memory holds one page. Requires a session whose scope names no session. */
export async function* exportGraphLines(session: GraphSession): AsyncGenerator<string, void, void> {
  const items = new GraphItems(session);
  for await (const { value } of items.entities()) yield entityLine(value);
  for await (const { value } of items.relations()) yield relationLine(value);
}
