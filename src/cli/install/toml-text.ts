/** Finds the sections of a TOML text. Strings, arrays and comments that look like headers are not taken for headers. */
import { parse } from "smol-toml";

export interface Section {
  /** The names in its header. */
  readonly path: readonly string[];
  /** Start of its header line. */
  readonly start: number;
  /** End of its last statement: comments after that belong to the next section. */
  readonly end: number;
}

/** Requires valid TOML. */
export function sectionsOf(text: string): readonly Section[] {
  const sections: { path: readonly string[]; start: number; end: number }[] = [];
  for (const { start, end } of statementsOf(text)) {
    const statement = text.slice(start, end);
    if (statement.trimStart().startsWith("[")) sections.push({ path: pathOf(statement), start, end });
    else {
      const section = sections.at(-1);
      if (section) section.end = end;
    }
  }
  return sections;
}

/**
 * Headers and assignments, each from the start of its line to the end of its last line, including a comment there but not
 * the line break.
 */
function* statementsOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let at = 0; at < text.length; ) {
    const [blank = ""] = /^[ \t]*(#[^\n]*)?(\r?\n|$)/.exec(text.slice(at)) ?? [];
    if (blank !== "") {
      at += blank.length;
      continue;
    }
    const end = statementEnd(text, at);
    yield { start: at, end };
    const [lineEnd = ""] = /^\r?\n/.exec(text.slice(end)) ?? [];
    at = end + lineEnd.length;
  }
}

/** A whole string of any of the four kinds, a comment, a bracket, or any other character. */
const TOKEN =
  /"""(?:\\[\s\S]|[^\\])*?"""(?:"{0,2})|'''[\s\S]*?'''(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\r\n]*|\r?\n|[\s\S]/y;

/** The first line break outside strings and brackets. */
function statementEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const [token = ""] = TOKEN.exec(text) ?? [];
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    else if (token.endsWith("\n") && token.trim() === "" && depth === 0) break;
    at += token.length;
  }
  return at;
}

/** Parses the header as TOML, which yields one chain of tables. */
function pathOf(header: string): readonly string[] {
  const path: string[] = [];
  let table: unknown = parse(header);
  for (;;) {
    if (Array.isArray(table)) table = table[0];
    const [key, ...more] = typeof table === "object" && table !== null ? Object.keys(table) : [];
    if (key === undefined || more.length > 0) return path;
    path.push(key);
    table = (table as { readonly [key: string]: unknown })[key];
  }
}
