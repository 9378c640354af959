/**
 * A file that is damaged while a server has it open, or that is given to a command: every interface reports it in its
 * own way. Callers of a server learn nothing about its files.
 */
import { copyFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { holdfast } from "../cli/cli.js";
import { HttpAgent } from "../mcp/http-agent.js";
import { OPERATIONS } from "../server/parts.js";
import { ask } from "../server/requests.js";
import { newPath, startWithKeys } from "../server/started.js";
import { makeWorld } from "../server/world.js";
import { Random } from "../support/random.js";
import { DAMAGES } from "./damages.js";

const BY_WORDS = { buffer: { hybridBuffer: { embeddingModel: "none" } }, store: { busyTimeoutMs: 300 } };
const TIMEOUT_MS = 180_000;
/** What these tell an admin is about the file itself. */
const ABOUT_THE_FILE: ReadonlySet<string> = new Set(["config", "doctor"]);

const damage = (path: string, how: string): void => DAMAGES[how]?.(path, new Random(5));

describe.each(["garbage", "cut at a page", "no data of the words index"])("a file with %s", (how) => {
  it(
    "behind a server: every route answers with a status, a code and a hint, and names no file",
    async () => {
      const { admin, path } = await startWithKeys(BY_WORDS);
      const world = await makeWorld(admin, "ada");
      const agent = await HttpAgent.connect(admin.url, { query: { user: "ada" }, key: admin.secret as string });
      damage(path, how);
      let failures = 0;
      for (const listed of OPERATIONS) {
        const { status, text, json } = await ask(admin, listed, world);
        if (ABOUT_THE_FILE.has(listed.name) && status === 200) {
          expect(listed.operation.access, listed.name).toBe("admin");
          continue;
        }
        expect(text, listed.name).not.toContain(dirname(path));
        expect(text, listed.name).not.toMatch(/SQLITE|vtable|malformed|no such table/);
        if (json?.status !== "error") continue;
        const { code, hint } = json.error ?? { code: "", hint: "" };
        expect(hint, `${listed.name}: ${text}`).toMatch(/./);
        if (listed.method === "GET") expect(code, listed.name).not.toBe("outcome_unknown");
        if (code === "store_failed") expect(status).toBe(503);
        if (status >= 500) failures++;
      }
      expect(failures).toBeGreaterThan(0);
      for (const [tool, args] of [
        ["memory_search", { query: "persona" }],
        ["memory_save", { content: "one more" }],
        ["memory_block", { command: "view" }],
      ] as const) {
        // A key that cannot be looked up is refused before any tool runs.
        const refused = (error: Error) => ({ text: error.message, isError: true });
        const { text, isError } = await agent.call(tool, args).catch(refused);
        if (isError) expect(text).toMatch(/^Error: .+\. .+|"hint":"./);
        expect(text).not.toContain(dirname(path));
        expect(text).not.toMatch(/SQLITE|vtable|malformed|should not/);
      }
    },
    TIMEOUT_MS,
  );

  it(
    "given to a command: one line says what is wrong, the next what to do, and the exit code is that of a failure",
    async () => {
      const { admin, path, server } = await startWithKeys(BY_WORDS);
      await makeWorld(admin, "ada");
      await server.stop();
      const commands = [
        ["add", "one more", "--user", "ada"],
        ["query", "persona", "--user", "ada"],
        ["sessions", "list", "--user", "ada"],
        ["context", "--user", "ada"],
        ["blocks", "list", "--user", "ada"],
        ["facts", "list", "--user", "ada"],
        ["stats"],
        ["export"],
        ["backup", `${path}.copy`],
        ["forget", "--all", "--user", "ada", "--yes"],
        ["doctor"],
      ];
      let failures = 0;
      for (const command of commands) {
        const copy = newPath();
        copyFileSync(path, copy);
        damage(copy, how);
        const { code, out, err } = await holdfast([...command, "--path", copy], {
          env: { HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL: "none" },
        });
        if (code === 0) continue;
        failures++;
        const said = out + err;
        expect(said, command.join(" ")).not.toMatch(/SQLITE|ERR_|vtable|should not happen|unknown command/);
        expect(code, said).toBe(command[0] === "doctor" ? 1 : 70);
        if (command[0] !== "doctor") expect(err, command.join(" ")).toMatch(/(^|\n)holdfast: .+\n {2}.+\n$/);
      }
      expect(failures).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
