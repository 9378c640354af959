/** Every command with arguments that work on the seeded memory (user default, session monday), in order. */
import { join } from "node:path";
import { holdfast, jsonOf } from "./cli.js";

export interface Sample {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** Each line is a JSON value. */
  readonly isStream?: boolean;
  /** Works on a file, but not through a server. */
  readonly isFileOnly?: boolean;
  /** Needs no memory. */
  readonly needsNoMemory?: boolean;
}

export interface Seeds {
  readonly fact: string;
  readonly key: string;
}

/** Fills the memory at `path`. */
export async function seed(path: string): Promise<Seeds> {
  const json = async <T>(...argv: string[]): Promise<T> =>
    jsonOf<T>(await holdfast([...argv, "--json", "--path", path]));
  await json("add", "I moved to Lisbon in May.", "--id", "m1", "--session", "monday");
  await json("blocks", "create", "persona", "Ada is a baker.");
  await json("blocks", "edit", "persona", "--replace", "baker", "--with", "pilot");
  const { fact } = await json<{ fact: { id: string } }>("facts", "add", "home", "Ada lives in Lisbon");
  const { key } = await json<{ key: { id: string } }>("key", "create", "--access", "admin");
  return { fact: fact.id, key: key.id };
}

export function samplesOf({ fact, key }: Seeds, folder: string): { readonly [command: string]: Sample } {
  return {
    add: { args: ["tea"] },
    query: { args: ["lisbon"] },
    context: { args: ["lisbon"] },
    tail: { args: ["--no-follow"], isStream: true },
    get: { args: ["m1"] },
    edit: { args: ["m1", "I moved to Lisbon in June."] },
    forget: { args: ["m1"] },
    retain: { args: ["30d", "--yes"] },
    "blocks list": { args: [] },
    "blocks show": { args: ["persona"] },
    "blocks create": { args: ["rules", "Be kind."] },
    "blocks edit": { args: ["persona", "--append", "She likes tea."] },
    "blocks configure": { args: ["persona", "--max-tokens", "99"] },
    "blocks restore": { args: ["persona", "1"] },
    "blocks history": { args: ["persona"] },
    "blocks diff": { args: ["persona"] },
    "blocks rename": { args: ["persona", "human"] },
    "blocks delete": { args: ["human", "--yes"] },
    "facts list": { args: [] },
    "facts query": { args: ["lisbon"] },
    "facts add": { args: ["drink", "tea"] },
    "facts end": { args: [fact] },
    "facts retract": { args: [fact] },
    "facts extract": { args: ["--session", "monday"] },
    "sessions list": { args: [] },
    "sessions rename": { args: ["monday", "tuesday"] },
    "sessions forget": { args: ["tuesday", "--yes"] },
    "users list": { args: [] },
    "agents list": { args: [] },
    "teams list": { args: [] },
    serve: { args: ["--port", "0"], isFileOnly: true },
    mcp: { args: [], stdin: "", needsNoMemory: true }, // until its client asks for something
    install: { args: ["cursor", "--print"], needsNoMemory: true },
    "key create": { args: ["--user", "default"] },
    "key list": { args: [] },
    "key revoke": { args: [key] },
    export: { args: [], isStream: true },
    import: { args: ["-"], stdin: '{"role":"user","content":"imported","id":"i1"}\n' },
    "graph import": {
      args: ["-"],
      stdin: '{"type":"entity","name":"Ada","entityType":"person","observations":["flies"]}\n',
    },
    "graph export": { args: [], isStream: true },
    backup: { args: [join(folder, "backup.db")], isFileOnly: true },
    restore: { args: [join(folder, "seed.db"), "--overwrite"], isFileOnly: true },
    config: { args: [] },
    reindex: { args: ["--abandon"], isFileOnly: true },
    flush: { args: [] },
    parked: { args: [] },
    replay: { args: [] },
    doctor: { args: [], isFileOnly: true },
    stats: { args: [] },
    completion: { args: ["bash"], needsNoMemory: true },
  };
}
