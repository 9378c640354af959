/** holdfast config: the options in force, of a file and of a server. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { holdfast, Process } from "./cli.js";

/** The rows of the table: option, value, origin. */
const rowsOf = (out: string): readonly (readonly string[])[] =>
  out
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"));

describe("holdfast config", () => {
  it("says where each option of a file comes from, without opening it, and never a secret", async () => {
    await inFolder(async (folder) => {
      const [path, config] = [`${folder}/memory.db`, `${folder}/holdfast.yaml`];
      writeFileSync(config, "buffer:\n  query:\n    max_size: 20\nqdrant:\n  api_key: s3cret\n");
      const env = { HOLDFAST_BUFFER_CLOSE_MS: "7" };
      const ran = await holdfast(["config", "--changed", "--path", path, "--config", config], { env });
      expect(ran.code).toBe(0);
      expect(rowsOf(ran.out)).toEqual(
        expect.arrayContaining([
          ["store.path", path, "code or flag"],
          ["buffer.close_ms", "7", "HOLDFAST_BUFFER_CLOSE_MS"],
          ["buffer.query.max_size", "20", `${config}:3`],
          ["qdrant.api_key", "(set)", `${config}:5`],
        ]),
      );
      expect(ran.out).not.toContain("s3cret");
      const all = await holdfast(["config", "--path", path]);
      expect(rowsOf(all.out)).toContainEqual(["embedding.batch_size", "64", "default"]);
    });
  });

  it("shows the options that a server was started with", async () => {
    await inFolder(async (folder) => {
      const env = { HOLDFAST_STORE_PATH: `${folder}/memory.db` };
      const server = Process.holdfast(["serve", "--port", "0"], env);
      await server.until("or:");
      const [url = ""] = /http:\S+/.exec(server.out) ?? [];
      const rows = rowsOf((await holdfast(["config", "--url", url])).out);
      expect(rows).toContainEqual(["store.path", `${folder}/memory.db`, "HOLDFAST_STORE_PATH"]);
      expect(rows).toContainEqual(["server.port", "0", "code or flag"]);
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    });
  });
});
