/** holdfast parked and replay: items that could not be embedded. */
import type { ParkedItem } from "../../stores/indexing.js";
import type { Call } from "../call.js";
import type { Definition } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { noteNext, pageOf, pageOptions } from "./page-flags.js";

export const parkedCommand: Definition = {
  name: "parked",
  purpose: "List items that could not be embedded, with the reason.",
  about: "Lists those of the whole memory. Search by words still finds them. They are retried from time to time.",
  options: pageOptions("items"),
  isScoped: true,
  examples: ["holdfast parked --user ada", 'holdfast parked --json | jq -r ".items[].error"'],
  async run(call) {
    const { printer, scope } = call;
    await call.withSession({}, async (session) => {
      const page = await session.parked(pageOf(call));
      if (printer.json) return printer.value({ scope, ...page });
      if (printer.isTerminal) for (const item of page.items) await printParked(call, item);
      const names = ["ID", "SESSION", "PARKED", "ATTEMPTS", "RETRY", "REASON"];
      const rows = page.items.map((item) => [
        item.id,
        item.session ?? "",
        call.time(item.parkedAt),
        String(item.attempts),
        item.retryAt === undefined ? "" : call.time(item.retryAt),
        item.error,
      ]);
      if (rows.length > 0 && !printer.isTerminal)
        await printer.table(
          names.map((name) => ({ name })),
          rows,
        );
      noteNext(call, page, "parked items");
    });
  },
};

/** The reason is never cut: it is what the command is for. */
async function printParked(
  call: Call,
  { id, session = "", parkedAt, attempts, retryAt, error }: ParkedItem,
): Promise<void> {
  const retry = retryAt === undefined ? "" : `retried ${call.time(retryAt)}`;
  await call.printer.head([call.time(parkedAt), session, counted(attempts, "attempt"), retry], id);
  await call.printer.text(error);
}

export const replayCommand: Definition = {
  name: "replay",
  args: "[ids...]",
  argHelp: { ids: "ids of items, as printed by parked (default: all of the memory)" },
  purpose: "Retry items that could not be embedded.",
  about:
    "They wait until a server, the next queries or holdfast flush embed them. Exit code 3 if none of the ids is parked.",
  isScoped: true,
  examples: ["holdfast replay --user ada && holdfast flush", "holdfast replay m1 m2 --user ada"],
  async run(call) {
    const { printer, args } = call;
    await call.withSession({}, async (session) => {
      const replayed = await session.replay(args.length > 0 ? args : undefined);
      if (args.length > 0 && replayed === 0) call.exitCode = EXIT.notFound;
      if (printer.json) return printer.value({ replayed });
      await printer.line(replayed === 0 ? "nothing to retry" : `to be embedded again: ${counted(replayed, "item")}`);
      if (replayed > 0) printer.note(styled("dim", "holdfast flush embeds what is waiting"));
    });
  },
};
