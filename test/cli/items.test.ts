/** holdfast get, edit, parked and replay. */
import { describe, expect, it } from "vitest";
import { MirrorEmbedder } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { errorOf, holdfast, jsonOf, MAIN } from "./cli.js";

const terminal = { columns: 80, env: { NO_COLOR: "1" } };

/** A memory with one message, and its id. */
async function withMessage(...flags: readonly string[]): Promise<{ readonly path: string; readonly id: string }> {
  const path = newPath();
  const { ids } = jsonOf<{ ids: readonly [string] }>(
    await holdfast(["add", "I moved to Lisbon\nin May.", ...flags, "--json", "--path", path]),
  );
  return { path, id: ids[0] };
}

describe("holdfast get", () => {
  it("prints whole items, in order, as text, rows or JSON", async () => {
    const { path, id } = await withMessage("--session", "s", "--metadata", '{"topic":"home"}');
    await holdfast(["add", "tea", "--id", "m2", "--path", path]);
    const shown = await holdfast(["get", id, "--path", path], terminal);
    expect(shown.out).toMatch(/^[\d-]+ [\d:]+ {2}user {2}s {2}version 1 {2}[0-9a-f-]{36}\n\{"topic":"home"\}\n/);
    expect(shown.out.endsWith("\nI moved to Lisbon\nin May.\n")).toBe(true);
    const rows = (await holdfast(["get", "m2", id, "--path", path])).out.trimEnd().split("\n");
    expect(rows).toEqual([
      "ID\tWHEN\tWHO\tSESSION\tVERSION\tMETADATA\tCONTENT",
      expect.stringMatching(/^m2\t.*\t\t1\t\ttea$/),
      expect.stringContaining(`\ts\t1\t{"topic":"home"}\tI moved to Lisbon\\nin May.`),
    ]);
    expect(jsonOf(await holdfast(["get", "m2", "--json", "--path", path]))).toMatchObject({
      items: [{ id: "m2", content: "tea" }],
      missing: [],
    });
  });

  it("names items that do not exist and ends with 3", async () => {
    const { path, id } = await withMessage();
    const ran = await holdfast(["get", "nobody", id, "--path", path]);
    expect(ran).toMatchObject({ code: 3, out: expect.stringContaining(id) });
    expect(ran.err).toContain("not found: nobody\n");
    expect(jsonOf(await holdfast(["get", "nobody", "--json", "--path", path]))).toMatchObject({ missing: ["nobody"] });
    expect((await holdfast(["get", id, "--user", "bob", "--path", path])).code).toBe(3);
  });
});

describe("holdfast edit", () => {
  const contentOf = async (path: string, id: string): Promise<string | undefined> =>
    jsonOf<{ items: { content: string }[] }>(await holdfast(["get", id, "--json", "--path", path])).items[0]?.content;

  it("replaces the text by an argument or by stdin, and search finds the new one only", async () => {
    const { path, id } = await withMessage();
    const ran = await holdfast(["edit", id, "She moved to", "Porto.", "--path", path]);
    expect(ran).toMatchObject({ code: 0, out: `${id} is now at version 2\n` });
    expect(await contentOf(path, id)).toBe("She moved to Porto.");
    expect((await holdfast(["query", "lisbon", "--words", "--path", path])).out).toBe("");
    await holdfast(["edit", id, "--path", path], { stdin: "one\ntwo\n" });
    expect(await contentOf(path, id)).toBe("one\ntwo");
  });

  it("opens an editor on a terminal, and loses no concurrent edit", async () => {
    const { path, id } = await withMessage();
    const edit = (editor: string) =>
      holdfast(["edit", id, "--path", path], { ...terminal, env: { EDITOR: editor, VISUAL: "" } });
    expect(await edit("true")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("no change") });
    expect((await edit("sed -i s/Lisbon/Porto/")).out).toBe(`${id} is now at version 2\n`);
    expect(await contentOf(path, id)).toBe("I moved to Porto\nin May.");
    const meanwhile = `'${process.execPath}' '${MAIN}' edit ${id} other --path '${path}' > /dev/null 2>&1`;
    expect(await edit(`f() { echo mine > "$1"; ${meanwhile}; }; f`)).toMatchObject({ code: 1, out: "" });
    expect(await contentOf(path, id)).toBe("other");
    expect((await edit("")).err).toContain("set EDITOR, or pass the new text after the id");
  });

  it("refuses an empty text and an unknown id", async () => {
    const { path, id } = await withMessage();
    const empty = await holdfast(["edit", id, "", "--json", "--path", path]);
    expect(empty.code).toBe(2);
    expect(errorOf(empty).hint).toBe("to remove the item: holdfast forget ID");
    expect((await holdfast(["edit", "nobody", "x", "--path", path])).code).toBe(3);
    expect((await holdfast(["edit", "nobody", "--path", path], terminal)).code).toBe(3);
  });
});

describe("holdfast parked and replay", () => {
  it("list what the model refuses, page by page, and let it be embedded again", async () => {
    const path = newPath();
    const embedder = new MirrorEmbedder();
    embedder.refuse(() => true);
    const memory = await open({ path, embedder });
    const session = memory.session({ user: "default", session: "s" });
    for (const id of ["m1", "m2"]) await session.add([{ role: "user", content: `tea ${id}`, id }]);
    expect(await session.flush()).toEqual({ pending: 0, parked: 2 });
    await memory.close();

    const run = (...argv: string[]) => holdfast([...argv, "--path", path]);
    const [head, ...rows] = (await run("parked")).out.trimEnd().split("\n");
    expect(head).toBe("ID\tSESSION\tPARKED\tATTEMPTS\tRETRY\tREASON");
    expect(rows.map((row) => row.split("\t")[0]).sort()).toEqual(["m1", "m2"]);
    // On a terminal the reason was cut.
    const shown = await run("parked", "--json");
    const [{ error = "" } = {}] = jsonOf<{ items: { error: string }[] }>(shown).items;
    const terminal = await holdfast(["parked", "--path", path], { columns: 60, env: { NO_COLOR: "1" } });
    expect(terminal.out).toMatch(/^[-\d]+ [:\d]+ {2}s {2}1 attempt/);
    expect(terminal.out.replace(/\s+/g, " ")).toContain(error.replace(/\s+/g, " "));
    const first = jsonOf<{ items: { id: string }[]; next: string }>(await run("parked", "--limit", "1", "--json"));
    const rest = jsonOf<{ items: { id: string }[] }>(await run("parked", "--cursor", first.next, "--json"));
    expect([...first.items, ...rest.items].map(({ id }) => id).sort()).toEqual(["m1", "m2"]);

    expect(await run("replay", "nobody")).toMatchObject({ code: 3, out: "nothing to retry\n" });
    expect(await run("replay", "m1")).toMatchObject({ code: 0, out: "to be embedded again: 1 item\n" });
    expect(jsonOf(await run("replay", "--json"))).toEqual({ replayed: 1 });
    expect(await run("parked")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("no parked items") });
    expect((await run("stats")).out).toContain("waiting to be embedded\t2\n");
  });
});
