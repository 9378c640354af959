/** The completion script for bash. */
import type { CompletionNode } from "./tree.js";

/** The script finds the command on the line, then offers the words from the tables below. */
export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# bash completion for holdfast
_holdfast() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" place="" at word
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$place $word" in
${nodes.flatMap(pathCases).join("\n")}
    esac
  done
  case "$place:$prev" in
${nodes.flatMap(valueCases).join("\n")}
  esac
  local words="" files=""
  case "$place" in
${nodes.map(nodeCase).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n "$files" && "$cur" != -* ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _holdfast holdfast
`;
}

const pathCases = ({ path, commands }: CompletionNode): readonly string[] =>
  commands.map(({ name }) => `      "${path} ${name}") place="${path === "" ? name : `${path} ${name}`}" ;;`);

function valueCases({ path, flags }: CompletionNode): readonly string[] {
  return flags.flatMap(({ names, value }) => {
    if (!value) return [];
    const pattern = names.map((name) => `"${path}:${name}"`).join("|");
    if (value.kind === "choice") {
      return [`    ${pattern}) COMPREPLY=($(compgen -W "${value.choices.join(" ")}" -- "$cur")); return ;;`];
    }
    return [`    ${pattern}) COMPREPLY=(${value.kind === "file" ? '$(compgen -f -- "$cur")' : ""}); return ;;`];
  });
}

function nodeCase({ path, commands, flags, takesFiles, words }: CompletionNode): string {
  const offered = [...commands.map(({ name }) => name), ...words, ...flags.map(({ names }) => names[0])];
  return `    "${path}") words="${offered.join(" ")}"${takesFiles ? ' files="yes"' : ""} ;;`;
}
