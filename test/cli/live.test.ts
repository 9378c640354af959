/** Commands that run until they are stopped: tail, serve, interrupted work. Real processes, signals and pipes. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { newPath } from "../support/opened.js";
import { holdfast, jsonOf, MAIN, Process } from "./cli.js";

describe("holdfast tail", () => {
  it("shows the newest items, then what other processes add, and ends with 0 at Ctrl-C", async () => {
    await inFolder(async (folder) => {
      const path = `${folder}/memory.db`;
      await holdfast(["add", "before", "--session", "s", "--path", path]);
      const tail = Process.holdfast(["tail", "--session", "s", "--path", path]);
      await tail.until("before");
      await holdfast(["add", "elsewhere", "--session", "other", "--path", path]);
      await holdfast(["add", "from another process", "--session", "s", "--path", path]);
      await tail.until("from another process");
      tail.child.kill("SIGINT");
      expect(await tail.ended).toBe(0);
      const rows = tail.out
        .trim()
        .split("\n")
        .map((line) => line.split("\t").at(-1));
      expect(rows).toEqual(["CONTENT", "before", "from another process"]);
      expect(tail.err).toBe(`user default · session s in ${path}\n`);
    });
  });

  it("ends by itself with --no-follow, and sees through a server what others add", async () => {
    const ending = new AbortController();
    const path = newPath();
    const server = await served(["--path", path, "--port", "0"]);
    await holdfast(["add", "first", "--url", server.url]);
    let shown = "";
    const onOut = (text: string): void => {
      shown += text;
      if (shown.includes("first") && !shown.includes("second")) void holdfast(["add", "second", "--path", path]);
      if (shown.includes("second")) ending.abort("SIGINT");
    };
    const ran = await holdfast(["tail", "--json", "--url", server.url], { signal: ending.signal, onOut });
    expect(ran.code).toBe(0);
    const items = ran.out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly content: string }).content);
    expect(items).toEqual(["first", "second"]);
    expect((await holdfast(["tail", "--no-follow", "-n", "1", "--url", server.url])).out).toContain("second");
    expect(await server.stop()).toBe(0);
  });
});

describe("holdfast serve", () => {
  it("starts beside a Kubernetes Service named holdfast, and names the ignored variables once", async () => {
    await inFolder(async (folder) => {
      const env = {
        HOLDFAST_SERVICE_HOST: "10.0.0.1",
        HOLDFAST_SERVICE_PORT: "8000",
        HOLDFAST_SERVICE_PORT_HTTP: "8000",
        HOLDFAST_PORT: "tcp://10.0.0.1:8000",
        HOLDFAST_PORT_8000_TCP: "tcp://10.0.0.1:8000",
        HOLDFAST_PORT_8000_TCP_PROTO: "tcp",
        HOLDFAST_PORT_8000_TCP_PORT: "8000",
        HOLDFAST_PORT_8000_TCP_ADDR: "10.0.0.1",
      };
      const server = Process.holdfast(["serve", "--port", "0", "--path", `${folder}/memory.db`], env);
      await server.until("or:");
      const [url = ""] = /http:\S+/.exec(server.out) ?? [];
      const stats = (await (await fetch(`${url}/api/v1/stats`)).json()) as { data: { ignoredVariables: string[] } };
      expect(stats.data.ignoredVariables).toEqual(Object.keys(env));
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      const lines = server.err.split("\n").filter((line) => line.includes("HOLDFAST_"));
      expect(lines).toEqual([`ignored, because there is no such option: ${Object.keys(env).join(", ")}`]);
      const brief = await holdfast(["stats", "--path", `${folder}/memory.db`], { env });
      expect([brief.code, brief.err], "a command that ends at once says nothing of them").toEqual([
        0,
        expect.not.stringContaining("HOLDFAST_"),
      ]);
    });
  });

  it("does not start with a misspelt variable", async () => {
    await inFolder(async (folder) => {
      const server = Process.holdfast(["serve", "--path", `${folder}/memory.db`], { HOLDFAST_SERVER_PROT: "9000" });
      expect(await server.ended).not.toBe(0);
      expect(server.err).toContain("HOLDFAST_SERVER_PROT; did you mean HOLDFAST_SERVER_PORT?");
    });
  });

  it("as a process prints where it listens and where the data is, with a command that works, and shuts down cleanly", async () => {
    await inFolder(async (folder) => {
      const path = `${folder}/memory.db`;
      const server = Process.holdfast(["serve", "--port", "0", "--path", path]);
      await server.until("or:");
      expect(server.out).toContain(`memory: ${path}\n`);
      const [, url = "", body = ""] = /^try: {2}curl '([^']+)' -H '[^']+' -d '([^']+)'$/m.exec(server.out) ?? [];
      const added = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
      expect(added.status).toBe(201);
      const [, base = ""] = /listening on (\S+)/.exec(server.out) ?? [];
      const taken = await holdfast(["serve", "--port", new URL(base).port, "--path", newPath()]);
      expect(taken).toMatchObject({ code: 2, out: "", err: expect.stringContaining("is already in use") });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.err).toContain(`stopped; 1 item in ${path}`);
      const found = jsonOf(await holdfast(["query", "lisbon", "--path", path, "--json"]));
      expect(found).toMatchObject({ hits: [{ content: "I moved to Lisbon in May." }] });
    });
  });

  it("with --json prints the same in one line", async () => {
    const ending = new AbortController();
    const path = newPath();
    const onOut = (): void => ending.abort("SIGTERM");
    const ran = await holdfast(["serve", "--json", "--port", "0", "--path", path], { signal: ending.signal, onOut });
    expect(ran.code).toBe(0);
    const { url, port } = jsonOf<{ readonly url: string; readonly port: number }>(ran);
    expect(jsonOf(ran)).toEqual({ url: `http://127.0.0.1:${port}`, port, path });
    await expect(fetch(url)).rejects.toThrow(); // it has ended
  });

  it("on a public address is refused while there is no key", async () => {
    // HOLDFAST_URL is for clients, and does not keep a server from starting.
    const env = { HOLDFAST_URL: "http://127.0.0.1:1", HOLDFAST_STORE_PATH: newPath() };
    const ran = await holdfast(["serve", "--host", "0.0.0.0", "--port", "0"], { env });
    expect(ran).toMatchObject({ code: 2, out: "", err: expect.stringContaining("there is no API key yet") });
    expect(ran.err).toContain("holdfast key create --access admin");
  });

  describe("with --require-key, --allow-host and --allow-origin", () => {
    let server: Served;
    beforeAll(async () => {
      const path = ":memory:";
      server = await served([
        "--path",
        path,
        "--require-key",
        "--allow-host",
        "memory.test",
        "--allow-origin",
        "https://app.test",
        "--port",
        "0",
      ]);
    });
    afterAll(() => server.stop());

    it("requires a key on this machine too", async () => {
      expect((await holdfast(["query", "tea", "--url", server.url])).code).toBe(4);
      expect(server.out).toContain('-H "authorization: Bearer $HOLDFAST_KEY"');
    });

    it("answers under the allowed names, and to the allowed pages", async () => {
      expect(await statusAs(server.url, "memory.test")).toBe(200);
      expect(await statusAs(server.url, "evil.test")).not.toBe(200);
      const response = await fetch(`${server.url}/api/v1/health`, { headers: { origin: "https://app.test" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
    });
  });
});

/** The status of the answer when the server is called by this name. */
function statusAs(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/v1/health`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject).end();
  });
}

interface Served {
  readonly url: string;
  readonly out: string;
  /** Its exit code. */
  stop(): Promise<number>;
}

/** `holdfast serve` in this process. */
async function served(flags: readonly string[]): Promise<Served> {
  const ending = new AbortController();
  let out = "";
  let started = (_: string): void => {};
  const url = new Promise<string>((resolve) => {
    started = resolve;
  });
  const onOut = (text: string): void => {
    out += text;
    const [, address] = /listening on (\S+)/.exec(out) ?? [];
    if (address !== undefined && out.includes("or:")) started(address);
  };
  const ran = holdfast(["serve", ...flags], { signal: ending.signal, onOut });
  const failed = ran.then(({ err }) => Promise.reject(new Error(err)));
  failed.catch(() => undefined); // it rejects when it is stopped
  return {
    url: await Promise.race([url, failed]),
    get out() {
      return out;
    },
    stop: async () => {
      ending.abort("SIGINT");
      return (await ran).code;
    },
  };
}

describe("a process", () => {
  it("that is interrupted during its work ends with 130, and what it had accepted stays", async () => {
    await inFolder(async (folder) => {
      const path = `${folder}/memory.db`;
      const adding = Process.holdfast(["add", "--jsonl", "--json", "--path", path]);
      const lines = Array.from({ length: 300 }, (_, at) => JSON.stringify({ role: "user", content: `tea ${at}` }));
      adding.child.stdin?.write(`${lines.join("\n")}\n`);
      while ((await holdfast(["query", "tea", "-n", "1", "--path", path])).out === "") {
        // Until the first 256 are written; each check takes longer than a write.
      }
      adding.child.kill("SIGINT");
      expect(await adding.ended).toBe(130);
      expect(adding.out).toBe("");
      expect(jsonOf(await holdfast(["stats", "--json", "--path", path]))).toMatchObject({ store: { items: 256 } });
    });
  });

  it("whose reader is gone ends quietly", async () => {
    await inFolder(async (folder) => {
      const path = `${folder}/memory.db`;
      const stdin = Array.from({ length: 5_000 }, (_, at) =>
        JSON.stringify({ role: "user", content: `tea ${at}` }),
      ).join("\n");
      await holdfast(["add", "--jsonl", "--path", path], { stdin });
      const script = `"$0" "$1" export --path "$2" | head -n 1; echo "\${PIPESTATUS[0]}"`;
      const piped = new Process("bash", ["-c", script, process.execPath, MAIN, path]);
      expect(await piped.ended).toBe(0);
      expect(piped.out).toMatch(/^\{"type":"holdfast".*\}\n0\n$/);
      expect(piped.err).toBe(`everyone in ${path}\n`);
    });
  });
});
