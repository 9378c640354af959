/** How `holdfast mcp` ends: its client closes stdin, or dies, or does not read; a signal comes; nonsense comes. */
import { join } from "node:path";
import { type Item, openMemory } from "holdfast";
import { afterAll, expect, it } from "vitest";
import { MAIN } from "../cli/cli.js";
import { newPath } from "../support/opened.js";
import { until } from "../support/until.js";
import { HELLO, isRunning, lineOf, Pipes, saving } from "./processes-clients.js";

/** What the file holds, oldest first. */
async function itemsIn(path: string): Promise<readonly Item[]> {
  const memory = await openMemory({ path });
  const { items } = await memory.session({ user: "default" }).list({ limit: 1000, order: "asc" });
  await memory.close();
  return items;
}

const contents = async (path: string): Promise<readonly string[]> =>
  (await itemsIn(path)).map(({ content }) => content);

it("answers what was asked before stdin was closed, and ends with 0", async () => {
  const path = newPath();
  const server = Pipes.mcp(["--path", path]);
  const asked = Array.from({ length: 20 }, (_, at) => saving(at + 1, `boat ${at}`));
  const last = lineOf({ id: 99, method: "ping" }).trimEnd(); // a last line without its end counts
  server.child.stdin?.end([...HELLO, ...asked].map(lineOf).join("") + last);
  expect(await server.ended).toBe(0);
  expect(server.saved.length).toBe(20);
  expect(server.replies.map(({ id }) => id)).toContain(99);
  expect((await contents(path)).toSorted()).toEqual(asked.map((_, at) => `boat ${at}`).toSorted());
});

it("is not ended by what is no message, or a very long one, but by half a message and the end", async () => {
  const server = Pipes.mcp(["--path", newPath()]);
  server.write(...HELLO);
  const { stdin } = server.child;
  stdin?.write('\n\r\n  \nnonsense\n{"jsonrpc":"2.0"\n[]\nnull\n{"a":1}\n');
  stdin?.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  server.write({ id: 1, method: "no/such/method" }, { id: 2, method: "tools/call", params: { name: 7 } });
  expect((await server.reply(1)).error?.code).toBe(-32601);
  expect((await server.reply(2)).error?.code).toBeLessThan(0);
  server.write(saving(3, "long ".repeat(2_000_000)));
  expect((await server.reply(3)).result?.isError ?? true).toBe(true);
  server.write(saving(4, "It goes on."));
  expect((await server.reply(4)).result?.structuredContent?.ids?.length).toBe(1);
  expect(server.err.match(/the line is not a JSON-RPC message/g)?.length).toBe(6);
  stdin?.end(lineOf(saving(5, "Never said")).slice(0, 40));
  expect(await server.ended).toBe(0);
  expect(server.replies.length).toBe(5);
});

it("hangs up on a message that has no end", async () => {
  const server = Pipes.mcp(["--path", newPath()]);
  server.child.stdin?.on("error", () => undefined); // it does not read the rest
  server.child.stdin?.write("x".repeat(65 * 1024 * 1024));
  expect(await server.ended).toBe(0);
  expect(server.err).toContain("the message is too long");
});

it("ends with 0 at a signal, and what it has acknowledged is there", async () => {
  const endBy = async (signal: "SIGTERM" | "SIGINT"): Promise<void> => {
    const path = newPath();
    const server = Pipes.mcp(["--path", path]);
    server.write(...HELLO, ...Array.from({ length: 200 }, (_, at) => saving(at + 1, `boat ${at}`)));
    await until(() => server.saved.length > 0);
    server.child.kill(signal);
    expect(await server.ended).toBe(0);
    const ids = (await itemsIn(path)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...server.saved]));
  };
  await Promise.all([endBy("SIGTERM"), endBy("SIGINT")]);
});

it("does not wait for a client that has stopped to read, neither at the end of stdin nor at a signal", async () => {
  const endBy = async (end: (server: Pipes) => void): Promise<void> => {
    const path = newPath();
    const server = Pipes.mcp(["--path", path]);
    server.write(...HELLO, saving(1, "The boat has left."));
    await server.reply(1);
    server.child.stdout?.pause();
    server.write(...Array.from({ length: 60 }, (_, at) => ({ id: at + 2, method: "tools/list" })), saving(99, "Tea"));
    const memory = await openMemory({ path });
    const session = memory.session({ user: "default" });
    await until(async () => (await session.list()).items.length === 2); // all was asked; not all answers fit the pipe
    await memory.close();
    const ended = new Promise((resolve) => server.child.once("exit", resolve));
    end(server);
    expect(await ended).toBe(0);
    server.child.stdout?.resume();
    await server.ended;
    expect(server.replies.length).toBeLessThan(62);
  };
  await Promise.all([endBy(({ child }) => child.stdin?.end()), endBy(({ child }) => child.kill("SIGTERM"))]);
});

const strays: number[] = [];
afterAll(() => {
  for (const pid of strays) if (isRunning(pid)) process.kill(pid, "SIGKILL"); // what a test has found unending
});

interface BehindShell {
  /** Ends when stdin is closed: what it starts with, `cat`, holds the other end of the server's stdin. */
  readonly pipes: Pipes;
  readonly shell: number;
  readonly server: number;
}

/** `holdfast mcp` started in the background by a shell that then does `rest`. */
async function behindShell(path: string, rest: string): Promise<BehindShell> {
  const inner = `exec 3<&0; "$0" "$1" mcp --path "$2" <&3 & echo "pid $! of $$;" >&2; ${rest}`;
  const pipes = new Pipes("sh", ["-c", `cat | sh -c '${inner}' "$0" "$1" "$2"`, process.execPath, MAIN, path]);
  pipes.write(...HELLO);
  await pipes.reply(0);
  const [, server, shell] = /pid (\d+) of (\d+);/.exec(pipes.err) ?? [];
  strays.push(Number(server));
  return { pipes, shell: Number(shell), server: Number(server) };
}

it("ends when its parent has gone, even if another process holds stdin open; without a parent it runs until stdin ends", async () => {
  const path = newPath();
  // The shell of the first is gone before the process has started: whoever gathers orphans is its parent from the start.
  const orphan = await behindShell(path, "exit 0");
  const child = await behindShell(join(path, "../other.db"), "wait");
  process.kill(child.shell, "SIGKILL");
  await until(() => !isRunning(child.server));
  orphan.pipes.write(saving(1, "Still here."));
  expect((await orphan.pipes.reply(1)).result?.structuredContent?.ids?.length).toBe(1);
  orphan.pipes.child.stdin?.end();
  await until(() => !isRunning(orphan.server));
  expect(await contents(path)).toEqual(["Still here."]);
  child.pipes.child.stdin?.end();
  await Promise.all([orphan.pipes.ended, child.pipes.ended]);
});
