/** holdfast users, agents, teams: lists of the registry. */
import type { Definition, Group } from "../definition.js";
import { noteNext, pageOf, pageOptions } from "./page-flags.js";

const KINDS = ["users", "agents", "teams"] as const;

export const entryGroups: readonly Group[] = KINDS.map((kind) => ({
  name: kind,
  purpose: `List ${kind}.`,
  commands: [listOf(kind)],
}));

function listOf(kind: (typeof KINDS)[number]): Definition {
  return {
    name: "list",
    purpose: `List ${kind}, in order of creation.`,
    options: pageOptions(kind),
    examples: [`holdfast ${kind} list`, `holdfast ${kind} list --json`],
    async run(call) {
      const { printer } = call;
      await call.withMemory({}, async (memory) => {
        const page = await memory.handle[kind].list(pageOf(call));
        if (printer.json) return printer.value(page);
        const names = ["NAME", "CREATED", "DESCRIPTION"];
        const rows = page.items.map((one) => [one.name, call.time(one.createdAt), one.description ?? ""]);
        if (rows.length > 0)
          await printer.table(
            names.map((name) => ({ name })),
            rows,
          );
        noteNext(call, page, kind);
      });
    },
  };
}
