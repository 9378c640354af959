/** The completion script for fish. */
import type { CompletionFlag, CompletionNode } from "./tree.js";

export function fishScript(nodes: readonly CompletionNode[]): string {
  return `# fish completion for holdfast
function __holdfast_path
  set -l place ""
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
${nodes.flatMap(pathCases).join("\n")}
    end
  end
  test "$place" = "$argv[1]"
end
complete -c holdfast -f
${nodes.flatMap(nodeLines).join("\n")}
`;
}

const pathCases = ({ path, commands }: CompletionNode): readonly string[] =>
  commands.map(
    ({ name }) =>
      `      case ${quoted(`${path} ${name}`)}\n        set place ${quoted(path === "" ? name : `${path} ${name}`)}`,
  );

function nodeLines({ path, commands, flags, takesFiles, words }: CompletionNode): readonly string[] {
  const when = `complete -c holdfast -n ${quoted(`__holdfast_path ${quoted(path)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${when} -a ${name} -d ${quoted(description)}`),
    ...words.map((word) => `${when} -a ${word}`),
    ...flags.map((flag) => `${when} ${flagArguments(flag)}`),
    ...(takesFiles ? [`${when} -F`] : []),
  ];
}

function flagArguments({ names, description, value }: CompletionFlag): string {
  const named = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
  const follows =
    value === undefined
      ? ""
      : value.kind === "choice"
        ? ` -xa ${quoted(value.choices.join(" "))}`
        : value.kind === "file"
          ? " -rF"
          : " -x";
  return `${named}${follows} -d ${quoted(description)}`;
}

/** In fish, only backslashes and single quotes are special inside single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
