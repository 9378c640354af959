/** holdfast completion: shell completion scripts for commands, flags and their values. */
import type { CompletionNode } from "../completion/tree.js";
import type { Definition } from "../definition.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const completionCommand: Definition = {
  name: "completion",
  args: "<shell>",
  argHelp: { shell: "the shell" },
  argChoices: { shell: SHELLS },
  purpose: "Print a completion script for your shell.",
  examples: [
    "source <(holdfast completion bash)",
    "holdfast completion zsh > ~/.zfunc/_holdfast",
    "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
  ],
  async run(call) {
    const { completionTree } = await import("../completion/tree.js");
    const nodes = completionTree(call.program);
    const script = await scriptOf(call.arg(0) as (typeof SHELLS)[number], nodes);
    if (call.printer.json) return call.printer.value({ shell: call.arg(0), script });
    return call.printer.body(script);
  },
};

async function scriptOf(shell: (typeof SHELLS)[number], nodes: readonly CompletionNode[]): Promise<string> {
  if (shell === "bash") return (await import("../completion/bash.js")).bashScript(nodes);
  if (shell === "zsh") return (await import("../completion/zsh.js")).zshScript(nodes);
  return (await import("../completion/fish.js")).fishScript(nodes);
}
