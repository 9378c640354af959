/** A path without a regular file: refused by everything that takes a path, without waiting. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { newFolder, open } from "../support/opened.js";
import { root } from "../support/root.js";
import type { Said } from "./path-caller.js";

const run = promisify(execFile);
/** A process that hangs is killed. */
const HANG_MS = 240_000;
const CALLER = fileURLToPath(new URL("./path-caller.js", import.meta.url));

const fifo = (path: string): void => void execFileSync("mkfifo", ["-m", "600", path]);

/** What is at the path, how it is made, and the error. */
const KINDS: readonly (readonly [what: string, make: (path: string) => unknown, said: RegExp])[] = [
  ["a pipe", fifo, /is a pipe/],
  ["a link to a device", (path) => symlinkSync(deviceBeside(path), path), /is a device/],
  ["a socket", listen, /is a socket/],
  ["a folder", (path) => mkdirSync(path), /is a folder|EISDIR|is not a plain file/],
  ["a link to nothing", (path) => symlinkSync(`${path}-nothing`, path), /link to a file that does not exist/],
  ["a link to itself", (path) => symlinkSync(path, path), /refers to itself|is a link/],
];

/**
 * A device that a faulty program may replace: where the test may not create one, it may not replace the system's
 * either.
 */
function deviceBeside(path: string): string {
  if (process.getuid?.() !== 0) return "/dev/zero";
  execFileSync("mknod", ["-m", "600", `${path}-device`, "c", "1", "5"]);
  return `${path}-device`;
}

function listen(path: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve) => server.listen(path, resolve));
}

/** A sound file, and beside it the place for the odd one. */
async function places(): Promise<{ readonly sound: string; readonly path: string }> {
  const folder = newFolder();
  const sound = join(folder, "sound.db");
  const memory = await open({ path: sound, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  await memory.session({ user: "ada" }).add([{ role: "user", content: "hello" }]);
  await memory.close();
  const path = join(folder, "crew", "memory", "ada.json");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return { sound, path };
}

async function callAll(path: string, sound: string): Promise<{ readonly [call: string]: Said }> {
  const { stdout } = await run(process.execPath, [CALLER, path, sound], { timeout: HANG_MS, killSignal: "SIGKILL" });
  return JSON.parse(stdout) as { readonly [call: string]: Said };
}

describe.skipIf(process.platform === "win32")("a path", () => {
  it.each(KINDS)("at which there is %s is refused by every call", async (_, make, words) => {
    const { sound, path } = await places();
    await make(path);
    for (const [call, error] of Object.entries(await callAll(path, sound))) {
      expect(error, call).toMatchObject({ code: expect.any(String), hint: expect.stringMatching(/./) });
      if (call !== "memory of a team") expect((error as { message: string }).message, call).toMatch(words);
    }
    expect(readdirSync(dirname(sound)).filter((name) => /backup|restored|part/.test(name))).toEqual([]);
  });

  it("below a file is refused by every call", async () => {
    const { sound, path } = await places();
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), "not a folder");
    for (const [call, said] of Object.entries(await callAll(path, sound))) {
      if (call === "memory of a team") continue; // there is none
      expect(said, call).toMatchObject({ code: expect.any(String), hint: expect.stringMatching(/./) });
    }
  });

  it.each(["-wal", "-shm", "-journal"])("with a pipe beside it, named like its %s, is refused", async (ending) => {
    const { sound, path } = await places();
    fifo(path + ending);
    const { openMemory, SqliteBufferStore } = await callAll(path, sound);
    for (const said of [openMemory, SqliteBufferStore]) {
      expect(said).toMatchObject({ code: "store_failed", message: expect.stringContaining(`${ending} is a pipe`) });
    }
  });

  it.each([
    ["stats", (path: string) => ["stats", "--path", path]],
    ["stats --config", (path: string) => ["stats", "--config", path]],
    ["import", (path: string, sound: string) => ["import", path, "--path", sound]],
    ["graph import", (path: string, sound: string) => ["graph", "import", path, "--path", sound]],
    ["export --resume", (path: string, sound: string) => ["export", path, "--resume", "--path", sound]],
    ["export", (path: string, sound: string) => ["export", path, "--path", sound]],
    ["restore", (path: string, sound: string) => ["restore", path, "--path", `${sound}.new`]],
    ["backup --overwrite", (path: string, sound: string) => ["backup", path, "--overwrite", "--path", sound]],
    ["doctor", (path: string) => ["doctor", "--path", path]],
  ])("at which there is a pipe is refused by the command %s, in two lines", async (_, args) => {
    const { sound, path } = await places();
    fifo(path);
    const command = [join(root, "dist/cli/main.js"), ...args(path, sound)];
    const { code, killed, stdout, stderr } = await run(process.execPath, command, {
      timeout: HANG_MS,
      killSignal: "SIGKILL",
    }).then(
      (ended) => ({ ...ended, code: 0, killed: false }),
      (error: { code: number; killed: boolean; stdout: string; stderr: string }) => error,
    );
    expect(killed).toBe(false);
    expect([1, 2, 70]).toContain(code);
    expect(stdout + stderr).toMatch(/is a pipe|already exists|is not a file/);
    expect(stdout + stderr).not.toMatch(/should not happen/);
  });
});
