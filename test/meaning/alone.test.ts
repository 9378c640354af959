/** A script that does nothing but wait for the memory. Nothing else keeps its process alive. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/root.js";

/** Its embedder always fails, so that the memory waits between retries. */
const SCRIPT = `
import { openMemory } from "./dist/index.js";
const embedder = {
  model: "failing",
  describe: async () => ({ space: { model: "failing", runtime: "test", dimensions: 4 }, tokensMax: 100 }),
  countTokens: async (texts) => texts.map(() => 3),
  embed: async () => { throw new Error("out of order"); },
  close: async () => {},
};
const memory = await openMemory({ path: ":memory:", embedder, buffer: { closeMs: 50 } });
const session = memory.session({ user: "ada", session: "monday" });
await session.add([{ role: "user", content: "tea" }]);
console.log((await session.query("tea")).length);
await memory.close();
console.log("closed");
`;

it("a script ended silently, with code 13, while it waited for an embedder that failed", () => {
  const args = ["--input-type=module", "-e", SCRIPT.replace("./dist", join(root, "dist"))];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(`${status}: ${stdout}`).toBe("0: 1\nclosed\n");
});
