/** A real disk error: the file may grow no further. Callers learn the truth, nothing acknowledged is lost. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";

interface Told {
  readonly acknowledged: readonly string[];
  readonly refused: readonly { readonly word: string; readonly code: string }[];
}

describe("a full disk", () => {
  it("refuses adds as not written, keeps acknowledged writes, and continues when there is room", async () => {
    const path = newPath();
    // A limit on the size of any file this process writes, as an error instead of a signal: what a full disk looks like.
    const script = `trap '' XFSZ; ulimit -f 900; exec "$@"`;
    const child = fileURLToPath(new URL("./disk-full-writer.js", import.meta.url));
    const output = execFileSync("bash", ["-c", script, "bash", process.execPath, child, path], {
      encoding: "utf8",
      timeout: 300_000,
    });
    const told = JSON.parse(output) as Told;
    expect(told.acknowledged.length).toBeGreaterThan(5);
    expect(told.refused.length).toBeGreaterThan(0);
    expect(new Set(told.refused.map(({ code }) => code))).toEqual(new Set(["store_failed"]));
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const containing = async (word: string) =>
      (await session.query(word)).filter(({ content }) => content.startsWith(`${word} `));
    for (const word of told.acknowledged) expect(await containing(word)).toHaveLength(1);
    for (const { word } of told.refused) expect(await session.query(word)).toHaveLength(0);
    const { sequences } = await session.add([{ role: "user", content: "there is room again" }]);
    expect(sequences).toEqual([told.acknowledged.length + 1]);
  });
});
