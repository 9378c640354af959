/** holdfast retain: how long the items of a memory are kept. */
import { HoldfastError } from "../../errors.js";
import type { MemoryHandle } from "../../memory.js";
import type { Entries } from "../../registry.js";
import type { Entry, SpaceRef } from "../../types.js";
import type { Call } from "../call.js";
import { confirm, yesFlag } from "../confirm.js";
import type { Definition } from "../definition.js";
import { spanOf, spanText } from "../flag-values.js";
import { spaceOf, spaceText } from "../scope-flags.js";

const FOREVER = "forever";

export const retainCommand: Definition = {
  name: "retain",
  args: "[span]",
  argHelp: { span: `a span such as 12h, 30d, 1y, or ${FOREVER} (default: show what is set)` },
  purpose: "Set how long the items of a memory are kept.",
  about:
    "Items of the user, team or agent are forgotten this long after they were recorded, existing items included. That cannot be undone.",
  options: [yesFlag()],
  isScoped: "space",
  isKeyed: true,
  examples: [
    "holdfast retain --user ada",
    "holdfast retain 90d --user ada",
    "holdfast retain forever --team docs --yes",
  ],
  async run(call) {
    const [span] = call.args;
    if (call.scope.session !== undefined) {
      throw new HoldfastError("invalid_input", "a session has no retention of its own", {
        hint: "leave out --session: retention is set for a whole user, agent or team",
      });
    }
    const space = spaceOf(call.scope);
    const retentionMs = span === undefined || span === FOREVER ? null : spanOf(span);
    if (retentionMs !== null) {
      const what = `forget everything in ${spaceText(space)} ${spanText(retentionMs)} after it was recorded`;
      if (!(await confirm(call, what))) return;
    }
    await call.withSession({}, async (_, { handle }) => {
      const { entries, name } = entryOf(handle, space);
      const entry = span === undefined ? await entries.get(name) : await entries.retain(name, retentionMs, call.key);
      if (!entry) throw unknown(space);
      await print(call, space, entry);
    });
  },
};

function entryOf({ users, agents, teams }: MemoryHandle, space: SpaceRef): { entries: Entries; name: string } {
  if ("user" in space) return { entries: users, name: space.user };
  return "agent" in space ? { entries: agents, name: space.agent } : { entries: teams, name: space.team };
}

async function print({ printer }: Call, space: SpaceRef, entry: Entry): Promise<void> {
  if (printer.json) return printer.value(entry);
  const { retentionMs } = entry;
  const kept = retentionMs === undefined ? "until they are forgotten" : `for ${spanText(retentionMs)}`;
  await printer.line(`items of ${spaceText(space)} are kept ${kept}`);
}

const unknown = (space: SpaceRef): HoldfastError =>
  new HoldfastError("not_found", `there is no ${spaceText(space)}`, {
    hint: "it exists once something is added to it",
  });
