/** `holdfast/buffer-store` is usable alone: importing and using it loads a handful of files, and nothing else. */
import { execFileSync } from "node:child_process";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { sourcesOf } from "../../support/bundle.js";
import { inFolder } from "../../support/folder.js";
import { root } from "../../support/root.js";

const HOOK = `
import { writeSync } from "node:fs";
export function load(url, context, next) {
  writeSync(1, url + "\\n");
  return next(url, context);
}
`;
/** Prints the URL of each module as it is loaded; at the end those loaded by require. */
const program = (path: string): string => `
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(HOOK)}));
const { InMemoryBufferStore, SqliteBufferStore } = await import("holdfast/buffer-store");
for (const store of [new InMemoryBufferStore(), new SqliteBufferStore(${JSON.stringify(path)})]) {
  store.push({ n: 1 }, "monday", "key");
  store.addInjectedId("a");
  store.acknowledge(store.lease());
  store.close();
}
for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(pathToFileURL(file).href);
`;

it("loads its own files, the base layer, input validation, the driver and an estimate of tokens, and nothing else", () =>
  inFolder(async (folder) => {
    const args = ["--input-type=module", "--eval", program(join(folder, "buffer.db"))];
    const printed = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    const addresses = printed.split("\n").filter((line) => line.startsWith("file:"));
    const paths = addresses.map((address) => relative(root, fileURLToPath(address)).split(sep).join("/"));
    const chunks = paths.filter((path) => /^dist\/(?!parts\/)/.test(path));
    const sources = new Set(chunks.flatMap((path) => sourcesOf(join(root, path))));
    const own = [...sources].filter((path) => path.startsWith("src/compat/buffer-store/"));
    const rest = [...sources].filter((path) => !own.includes(path));
    expect(own).toContain("src/compat/buffer-store/sqlite-buffer-store.ts");
    expect(rest.filter((path) => path.startsWith("src/")).toSorted()).toEqual([
      "src/back-off.ts",
      "src/clock.ts",
      "src/errors.ts",
      "src/graphemes.ts",
      "src/ids.ts",
      "src/input/identity.ts",
      "src/input/integer.ts",
      "src/input/json.ts",
      "src/input/nearest.ts",
      "src/input/refusal.ts",
      "src/keyed-mutex.ts",
      "src/package-files.ts",
      "src/plain-file.ts",
      "src/rendered.ts",
      "src/stores/sqlite/file/connection.ts",
      "src/stores/sqlite/file/driver.ts",
      "src/stores/sqlite/file/failure.ts",
      "src/stores/sqlite/file/file.ts",
      "src/stores/sqlite/file/lost-log.ts",
      "src/stores/sqlite/file/main-file.ts",
      "src/stores/sqlite/file/open-file.ts",
      "src/stores/sqlite/file/pause.ts",
      "src/text.ts",
      "src/tokens/estimate.ts",
    ]);
    expect(rest.filter((path) => !/^(src\/|part:@photostructure\/sqlite|builtin:)/.test(path))).toEqual([]);
    // The driver, if Node has none built in.
    expect(paths.filter((path) => !chunks.includes(path) && !path.startsWith("dist/parts/sqlite/"))).toEqual([]);
  }));
