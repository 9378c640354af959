/**
 * A graph on a file, used by several processes and by the command line. Our processes lose nothing. Those of the
 * reference server do, which is shown first as the control.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KnowledgeGraph } from "holdfast";
import { expect, it } from "vitest";
import { errorOf, holdfast, jsonOf } from "../../cli/cli.js";
import { ReferenceServer } from "../../mcp/reference-server.js";
import { Child } from "../../support/child.js";
import { newFolder, newPath, open } from "../../support/opened.js";
import { unsoundness } from "../../support/raw.js";
import { until } from "../../support/until.js";
import {
  AT_ONCE,
  contested,
  noteOf,
  ownName,
  SCOPE,
  SHARED,
  type WriterOrder,
  type WriterReport,
} from "./writer-report.js";

const WRITERS = 3;
const ROUNDS = 6;
const TRIES = 200;
const numbers = Array.from({ length: WRITERS }, (_, at) => at);
const rounds = Array.from({ length: ROUNDS }, (_, at) => at);

it("two processes of the reference server on one file lose each other's entities (the control)", async () => {
  const file = join(newFolder(), "memory.jsonl");
  const entity = (name: string) => ({ type: "entity", name, entityType: "thing", observations: ["x".repeat(2000)] });
  // With a file of some size, there is time between reading and writing for the other process.
  writeFileSync(file, Array.from({ length: 500 }, (_, at) => JSON.stringify(entity(`seed ${at}`))).join("\n"));
  const servers = await Promise.all([ReferenceServer.on(file), ReferenceServer.on(file)]);
  const named = (name: string): boolean => readFileSync(file, "utf8").includes(`"${name}"`);
  try {
    let lost: string | undefined;
    let tries = 0;
    while (lost === undefined && tries < TRIES) {
      const names = [`left ${++tries}`, `right ${tries}`];
      const answers = await Promise.all(
        servers.map((server, at) => server.call("create_entities", { entities: [entity(names[at] ?? "")] })),
      );
      for (const { isError } of answers) expect(isError).toBe(false); // both reported success
      lost = names.find((name) => !named(name));
    }
    console.log(`the reference server lost an entity after ${tries} pairs of calls`);
    expect(lost).toBeDefined();
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
});

/** A writing process and everything that it has reported. */
class Writer {
  readonly #reports: WriterReport[] = [];
  readonly #child: Child<WriterOrder, WriterReport>;
  #lastWords: string | undefined;

  constructor(path: string, number: number) {
    const module = new URL("./writer.js", import.meta.url);
    this.#child = new Child(module, [path, String(number)], (report) => this.#reports.push(report));
    void this.#child.ended.then(({ stderr }) => {
      this.#lastWords = stderr;
    });
  }

  give(order: WriterOrder): void {
    this.#child.give(order);
  }

  async says<S extends WriterReport["say"]>(say: S): Promise<WriterReport & { readonly say: S }> {
    await until(() => this.#reports.length > 0 || this.#lastWords !== undefined);
    const report = this.#reports.shift();
    if (report?.say !== say) throw new Error(`the writer did not say ${say}: ${this.#lastWords}`);
    return report as WriterReport & { readonly say: S };
  }

  async end(): Promise<void> {
    this.#child.kill();
    await this.#child.ended;
  }
}

it("three of our processes on one file lose nothing, and an entity that all create is created once", async () => {
  const path = newPath();
  const memory = await open({ path });
  const graph = new KnowledgeGraph(memory.session(SCOPE));
  await graph.createEntities([{ name: SHARED, entityType: "thing", observations: [] }]);
  const writers = numbers.map((who) => new Writer(path, who));
  try {
    await Promise.all(writers.map((writer) => writer.says("ready")));
    const written: (WriterReport & { readonly say: "written" })[] = [];
    for (const round of rounds) {
      for (const writer of writers) writer.give({ round });
      written.push(...(await Promise.all(writers.map((writer) => writer.says("written")))));
    }

    const { entities, relations } = await graph.readGraph();
    const contests = rounds.map(contested);
    const owns = numbers.flatMap((who) => rounds.map((round) => ownName(who, round)));
    const names = entities.map(({ name }) => name);
    expect([...names].sort()).toEqual([SHARED, ...contests, ...owns].sort());
    expect(written.flatMap(({ created }) => created).sort()).toEqual([...contests, ...owns].sort());
    expect(relations.map(({ from }) => from).sort()).toEqual([...contests, ...owns].sort());

    const notes = numbers.flatMap((who) =>
      rounds.flatMap((round) => Array.from({ length: AT_ONCE }, (_, at) => noteOf(who, round, at))),
    );
    const kept = entities.find(({ name }) => name === SHARED)?.observations ?? [];
    expect([...kept].sort()).toEqual([...notes].sort());
    expect(written.flatMap(({ added }) => added).sort()).toEqual([...notes].sort());
    // The processes really interleaved.
    const writerOf = (note: string | undefined) => note?.split(" ").at(-1);
    const changes = kept.filter((note, at) => at > 0 && writerOf(note) !== writerOf(kept[at - 1])).length;
    console.log(`of ${notes.length} observations ${changes} came after one of another process`);
    expect(changes).toBeGreaterThan(WRITERS);
  } finally {
    await Promise.all(writers.map((writer) => writer.end()));
  }
  await memory.close();
  expect(unsoundness(path)).toEqual([]);
});

const LINES = [
  '{"type":"entity","name":"Ada","entityType":"person","observations":["flies","likes 🍵"]}',
  '{"type":"relation","from":"Ada","to":"Acme","relationType":"works_at"}',
];

it("graph import reads a file and reports what it read and skipped, and graph export returns it", async () => {
  const path = newPath();
  const file = join(newFolder(), "memory.jsonl");
  writeFileSync(
    file,
    Buffer.concat([Buffer.from(`${LINES[0]}\n{"type":"ent\n`), Buffer.from([0xff, 0x0a]), Buffer.from(LINES[1] ?? "")]),
  );
  const first = await holdfast(["graph", "import", file, "--path", path]);
  expect(first).toMatchObject({ code: 1, out: "imported: 1 entity, 1 relation\n" });
  expect(first.err).toContain("skipped: 2 lines\nline 2: it is not valid JSON\nline 3: it is not text in UTF-8\n");
  const more = '{"type":"entity","name":"Ada","entityType":"pilot","observations":["flies","sings"]}\n';
  const second = await holdfast(["graph", "import", "-", "--path", path], { stdin: more });
  expect(second).toMatchObject({ code: 0, out: "imported: 1 observation of existing entities\n" });
  const again = await holdfast(["graph", "import", "-", "--path", path, "--json"], { stdin: more });
  expect(jsonOf(again)).toEqual({
    ...{ lines: 1, entities: 0, relations: 0, observations: 0, repeated: 1, skipped: 0, unread: [] },
  });
  const { out } = await holdfast(["graph", "export", "--path", path]);
  expect(out).toBe(`${LINES[0]?.replace('"]}', '","sings"]}')}\n${LINES[1]}\n`);
  const found = await holdfast(["query", "works", "--path", path, "--json"]);
  expect(jsonOf<{ hits: readonly { content: string }[] }>(found).hits[0]?.content).toBe(
    "[relation: Ada works at Acme]",
  );
});

it("graph import works on a whole memory, and needs input", async () => {
  const path = newPath();
  const inSession = await holdfast(["graph", "import", "-", "--session", "s", "--path", path, "--json"], { stdin: "" });
  expect(inSession.code).toBe(2);
  expect(errorOf(inSession)).toMatchObject({ code: "invalid_input", hint: expect.stringContaining("whole memory") });
  expect(await holdfast(["graph", "import", "-", "--path", path])).toMatchObject({
    code: 2,
    err: expect.stringContaining("nothing to import"),
  });
  expect((await holdfast(["graph", "import", join(newFolder(), "none.jsonl"), "--path", path])).code).toBe(3);
});
