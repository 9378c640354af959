/** holdfast sessions: list, rename and forget sessions. */

import type { Order } from "../../types.js";
import { confirm, yesFlag } from "../confirm.js";
import { choiceFlag, type Definition, type Group } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { hasScope, type ScopeFlags, spaceOf, spaceText } from "../scope-flags.js";
import { noteNext, pageOf, pageOptions } from "./page-flags.js";
import { printReceipt } from "./receipt.js";

const list: Definition = {
  name: "list",
  purpose: "List sessions, of all memories or of one.",
  options: [
    ...pageOptions("sessions"),
    choiceFlag("--order <order>", "by creation: asc, the oldest first, or desc (default: asc)", ["asc", "desc"]),
  ],
  isScoped: true,
  examples: [
    "holdfast sessions list",
    "holdfast sessions list --user ada --order desc",
    "holdfast sessions list --user ada --agent tutor",
  ],
  async run(call) {
    const { printer, scope } = call;
    const { agent, order } = call.flags<ScopeFlags & { readonly order?: Order }>();
    const space = hasScope(call.flags<ScopeFlags>()) ? spaceOf(scope) : undefined;
    const query = {
      ...pageOf(call),
      ...(order !== undefined && { order }),
      ...(space && { space }),
      ...(agent !== undefined && space && !("agent" in space) && { agent }),
    };
    const what = space ? spaceText(space) : "everyone";
    await call.withMemory(
      {},
      async (memory) => {
        const page = await memory.handle.sessions.list(query);
        if (printer.json) return printer.value({ ...(space && { space }), ...page });
        const names = ["NAME", "OF", "AGENT", "BEGUN", "CHANGED"];
        const rows = page.items.map((one) => [
          one.name,
          spaceText(one.space),
          one.agent ?? "",
          call.time(one.createdAt),
          call.time(one.updatedAt),
        ]);
        if (rows.length > 0)
          await printer.table(
            names.map((name) => ({ name })),
            rows,
          );
        noteNext(call, page, "sessions");
      },
      what,
    );
  },
};

const rename: Definition = {
  name: "rename",
  args: "<name> <new-name>",
  argHelp: { name: "the session", "new-name": "the new name" },
  purpose: "Rename a session. Its messages are kept.",
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast sessions rename monday 2026-11-16 --user ada"],
  async run(call) {
    const { printer, scope } = call;
    await call.withSession({}, async (_, memory) => {
      const entry = await memory.handle.sessions.rename(spaceOf(scope), call.arg(0), call.arg(1), call.key);
      if (printer.json) return printer.value(entry);
      return printer.line(`renamed ${call.arg(0)} to ${entry.name}`);
    });
  },
};

const forget: Definition = {
  name: "forget",
  args: "<name>",
  argHelp: { name: "the session" },
  purpose: "Forget a session and everything in it.",
  about: "This cannot be undone.",
  options: [yesFlag()],
  isScoped: true,
  examples: ["holdfast sessions forget monday --user ada", "holdfast sessions forget monday --user ada --yes --json"],
  async run(call) {
    const space = spaceOf(call.scope);
    if (!(await confirm(call, `forget the session ${call.arg(0)} in ${spaceText(space)}`))) return;
    await call.withSession({}, async (_, memory) => {
      const receipt = await memory.handle.sessions.delete(space, call.arg(0));
      await printReceipt(call, receipt);
      if (receipt.sessions === 0) call.exitCode = EXIT.notFound;
    });
  },
};

export const sessionsGroup: Group = {
  name: "sessions",
  purpose: "List, rename and forget sessions.",
  commands: [list, rename, forget],
};
