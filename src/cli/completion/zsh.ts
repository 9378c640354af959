/** The completion script for zsh. */
import type { CompletionFlag, CompletionNode } from "./tree.js";

export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef holdfast
# zsh completion for holdfast
_holdfast() {
  local place="" word at
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    case "$place $word" in
${nodes.flatMap(pathCases).join("\n")}
    esac
  done
  local -a commands
  case "$place" in
${nodes.map(nodeCase).join("\n")}
  esac
}
compdef _holdfast holdfast
`;
}

const pathCases = ({ path, commands }: CompletionNode): readonly string[] =>
  commands.map(({ name }) => `      "${path} ${name}") place="${path === "" ? name : `${path} ${name}`}" ;;`);

function nodeCase({ path, commands, flags, takesFiles, words }: CompletionNode): string {
  const specs = flags.flatMap(flagSpecs).map((spec) => `        ${spec}`);
  if (commands.length > 0) {
    const named = commands.map(({ name, description }) => `        ${quoted(`${name}:${description}`)}`);
    const list = `commands=(\n${named.join("\n")}\n      )`;
    const last = `        '*:command:{_describe command commands}'`;
    return `    "${path}")\n      ${list}\n      _arguments \\\n${[...specs, last].join(" \\\n")} ;;`;
  }
  const rest = takesFiles ? "'*:file:_files'" : words.length > 0 ? `'*:what:(${words.join(" ")})'` : "'*:text: '";
  return `    "${path}")\n      _arguments \\\n${[...specs, `        ${rest}`].join(" \\\n")} ;;`;
}

function flagSpecs({ names, description, value }: CompletionFlag): readonly string[] {
  const about = description.replace(/[[\]\\:]/g, (mark) => `\\${mark}`);
  const action =
    value === undefined
      ? ""
      : value.kind === "choice"
        ? `:value:(${value.choices.join(" ")})`
        : value.kind === "file"
          ? ":file:_files"
          : ":value: ";
  return names.map((name) => quoted(`${name}[${about}]${action}`));
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
