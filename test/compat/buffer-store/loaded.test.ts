/** `holdfast/buffer-store` is usable alone: importing and using it loads a handful of files, and nothing else. */
import { execFileSync } from "node:child_process";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
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
    const own = paths.filter((path) => path.startsWith("dist/compat/buffer-store/"));
    const rest = [...new Set(paths.filter((path) => !path.startsWith("dist/compat/buffer-store/")))];
    expect(own).toContain("dist/compat/buffer-store/index.js");
    expect(own).toContain("dist/compat/buffer-store/sqlite-buffer-store.js");
    expect(rest.filter((path) => path.startsWith("dist/")).toSorted()).toEqual([
      "dist/back-off.js",
      "dist/clock.js",
      "dist/errors.js",
      "dist/graphemes.js",
      "dist/ids.js",
      "dist/input/identity.js",
      "dist/input/integer.js",
      "dist/input/json.js",
      "dist/input/limits.js",
      "dist/input/nearest.js",
      "dist/input/refusal.js",
      "dist/keyed-mutex.js",
      "dist/plain-file.js",
      "dist/rendered.js",
      "dist/stores/sqlite/file/connection.js",
      "dist/stores/sqlite/file/driver.js",
      "dist/stores/sqlite/file/failure.js",
      "dist/stores/sqlite/file/file.js",
      "dist/stores/sqlite/file/lost-log.js",
      "dist/stores/sqlite/file/main-file.js",
      "dist/stores/sqlite/file/open-file.js",
      "dist/stores/sqlite/file/pause.js",
      "dist/text.js",
      "dist/tokens/estimate.js",
    ]);
    // The driver, if Node has none built in.
    const packages = rest.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
    const known = ["@photostructure/sqlite", "node-gyp-build", "node-addon-api"];
    expect([...new Set(packages)].filter((name) => !known.includes(name))).toEqual([]);
  }));
