/** Exports a graph as the reference server's memory file: entities first, then relations, each in order. */
import { GraphItems, type GraphSession } from "./graph-items.js";
import { entityLine, relationLine } from "./graph-line.js";

/** Lines without line breaks; memory holds one page. Requires a session handle without a session in its scope. */
export async function* exportGraphLines(session: GraphSession): AsyncGenerator<string, void, void> {
  const items = new GraphItems(session);
  for await (const { value } of items.entities()) yield entityLine(value);
  for await (const { value } of items.relations()) yield relationLine(value);
}
