/** holdfast flush: embeds what is waiting. */
import type { MemoryHandle } from "../../memory.js";
import type { FlushReport } from "../../stats.js";
import type { Call } from "../call.js";
import type { Definition } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { counted } from "../output/counted.js";
import type { Progress } from "../output/progress.js";
import { styled } from "../output/style.js";
import { hasScope, type ScopeFlags } from "../scope-flags.js";

/** How often the backlog is polled for the progress bar. */
const LOOK_MS = 250;

export const flushCommand: Definition = {
  name: "flush",
  purpose: "Embed everything that is waiting, and wait until it is done.",
  about: "Without a scope: everything. With a scope: the session, or the items outside any session.",
  isScoped: true,
  examples: ["holdfast flush", "holdfast flush --user ada --session monday"],
  async run(call) {
    const isNarrow = hasScope(call.flags<ScopeFlags>());
    if (isNarrow) {
      return call.withSession({ meaning: true }, async (session) =>
        print(call, await session.flush(), () => call.isModelOff()),
      );
    }
    await call.withMemory({ meaning: true }, async ({ handle }) => {
      const progress = call.progress("embedding");
      const stop = progress.isShown ? await watchBacklog(handle, progress) : () => {};
      const report = await handle.flush().finally(() => {
        stop();
        progress.end();
      });
      await print(call, report, async () => (await handle.stats()).meaning === undefined);
    });
  },
};

/** Shows how much is left, until stopped. A failed poll shows nothing: the flush itself reports errors. */
async function watchBacklog(memory: MemoryHandle, progress: Progress): Promise<() => void> {
  const first = (await memory.stats()).store.pending;
  const look = async (): Promise<void> => {
    const { pending } = (await memory.stats()).store;
    progress.update(Math.max(0, first - pending), first);
  };
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  return () => clearInterval(looking);
}

async function print(call: Call, report: FlushReport, isModelOff: () => Promise<boolean>): Promise<void> {
  const { printer } = call;
  const { pending, parked } = report;
  const isOff = pending > 0 && (await isModelOff());
  if (pending > 0 && !isOff) call.exitCode = EXIT.tryAgain;
  if (printer.json) return printer.value(report);
  await printer.line(pending === 0 ? "nothing is waiting" : `still to be embedded: ${counted(pending, "item")}`);
  if (isOff) printer.note(styled("yellow", "the embedding model is off; search by words finds them"));
  else if (pending > 0) printer.note(styled("yellow", "the embedding model does not answer; see holdfast doctor"));
  if (parked > 0) {
    printer.note(
      styled("yellow", `could not be embedded: ${counted(parked, "item")}; search by words still finds them`),
    );
  }
}
