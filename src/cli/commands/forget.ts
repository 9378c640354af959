/** holdfast forget: items by id, a session, or a whole memory. */
import { HoldfastError } from "../../errors.js";
import { confirm, yesFlag } from "../confirm.js";
import { type Definition, flag } from "../definition.js";
import { EXIT } from "../exit-code.js";
import { type ScopeFlags, scopeText, spaceOf, spaceText } from "../scope-flags.js";
import { printReceipt } from "./receipt.js";

interface ForgetFlags extends ScopeFlags {
  readonly all?: boolean;
}

export const forgetCommand: Definition = {
  name: "forget",
  args: "[ids...]",
  argHelp: { ids: "ids of items, as printed by query and tail" },
  purpose: "Forget items, a session, or a whole memory.",
  about:
    "This cannot be undone. Text, index entries, vectors and derived facts are removed, and their bytes are erased from the file.",
  options: [flag("--all", "the whole memory of the given user, team or agent"), yesFlag()],
  isScoped: true,
  examples: [
    "holdfast forget 0199c5d2-7a1e-7000-8000-3f2a1b4c5d6e --user ada",
    "holdfast forget --user ada --session monday",
    "holdfast forget --user ada --all --yes",
  ],
  async run(call) {
    const { all, session } = call.flags<ForgetFlags>();
    const { scope, args } = call;
    if (args.length > 0 && all) throw unclear("both ids and --all were given");
    if (all && session !== undefined) throw unclear("both --session and --all were given");
    if (args.length === 0 && !all && session === undefined) throw unclear("nothing to forget was given");
    if (args.length > 0) {
      return call.withSession({}, async (one) => {
        const receipt = await one.delete(args);
        await printReceipt(call, receipt);
        if (receipt.missing.length > 0) call.exitCode = EXIT.notFound;
      });
    }
    if (!(await confirm(call, `forget everything in ${all ? spaceText(spaceOf(scope)) : scopeText(scope)}`))) return;
    await call.withSession({}, async (_session, memory) => {
      const receipt = await memory.handle.forget(scope);
      await printReceipt(call, receipt);
      if (receipt.entries + receipt.sessions + receipt.items === 0) call.exitCode = EXIT.notFound;
    });
  },
};

const unclear = (message: string): HoldfastError =>
  new HoldfastError("invalid_input", message, { hint: "pass ids, --session NAME, or --all" });
