import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packagedModel } from "./choice.js";
import { MODEL_FILES, type ModelFile, readModelFile } from "./files.js";

describe("the model's files", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-model-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.keys(MODEL_FILES) as ModelFile[])("ship with the package, as they must be: %s", async (name) => {
    expect((await readModelFile(packagedModel(), name)).length).toBeGreaterThan(0);
  });

  it("are listed in models/README.md with their checksums", () => {
    const readme = readFileSync(join(packagedModel(), "../README.md"), "utf8");
    for (const [name, sha256] of Object.entries(MODEL_FILES)) expect(readme).toMatch(row(name, sha256));
  });

  it("are refused if a byte differs", async () => {
    const bytes = readFileSync(join(packagedModel(), "tokenizer_config.json"));
    writeFileSync(join(folder, "tokenizer_config.json"), bytes);
    expect(await readModelFile(folder, "tokenizer_config.json")).toEqual(bytes);
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    writeFileSync(join(folder, "tokenizer_config.json"), bytes);
    await expect(readModelFile(folder, "tokenizer_config.json")).rejects.toMatchObject({
      code: "embedder_failed",
      message: expect.stringContaining("tokenizer_config.json"),
      hint: expect.stringContaining("install"),
      details: { file: "tokenizer_config.json" },
    });
  });

  it("are refused if they are missing, with the reason", async () => {
    await expect(readModelFile(folder, "tokenizer.json")).rejects.toMatchObject({
      code: "embedder_failed",
      message: expect.stringContaining("ENOENT"),
    });
  });
});

const row = (name: string, sha256: string): RegExp => new RegExp(`${name.replaceAll(".", "\\.")}.*${sha256}`);
