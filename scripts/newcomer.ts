/**
 * Plays the newcomer: installs the packed package into an empty folder and goes through README, command line, server and a bundle,
 * on each version of Node. Fails on a warning, a stack trace, a dependency with an install script, or a wrong answer.
 *
 *   node build/scripts/newcomer.js [--node 22] [--linked]
 *
 * npm installs from the registry, with install scripts allowed; everything else on the network is behind a proxy that does not
 * answer. With --linked the package is unpacked and its locked dependencies are linked, which needs no network.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { MAJORS, type Major, runtimeOf } from "./runtimes.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { values } = parseArgs({ options: { node: { type: "string" }, linked: { type: "boolean" } } });
const majors = MAJORS.filter((major) => values.node === undefined || values.node === major);
if (majors.length === 0) throw new Error(`--node takes one of ${MAJORS.join(", ")}`);

const PROXY = "http://127.0.0.1:9";
const OFFLINE = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, https_proxy: PROXY };
const STEPS = ["install", "ten lines", "add", "query", "doctor", "tail", "server", "bundle"] as const;

interface Visit {
  readonly node: string;
  readonly seconds: { readonly [step in (typeof STEPS)[number]]: number };
  readonly megabytes: number;
  readonly packages: number;
}

class Newcomer {
  readonly #major: Major;
  readonly #node: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(major: Major, node: string, folder: string) {
    this.#major = major;
    this.#node = node;
    this.#folder = folder;
    const own = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|npm_|NODE_OPTIONS$)/.test(name));
    this.#env = { ...Object.fromEntries(own), ...OFFLINE, PATH: `${dirname(this.#node)}:${process.env["PATH"]}` };
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  }

  async visit(tarball: string): Promise<Visit> {
    const install = timed(() => (values.linked ? this.#link(tarball) : this.#install(tarball)));
    const ten = timed(() => this.#expect(this.#run("ten.js", tenLines()), /^I moved to Lisbon in May\. true\n/));
    const added = timed(() => this.#holdfast("add", "The ferry to Cacilhas leaves at nine."));
    const queried = timed(() => this.#expect(this.#holdfast("query", "when is the boat?"), /The ferry to Cacilhas/));
    const checked = timed(() => this.#expect(this.#holdfast("doctor"), /onnxruntime-node/));
    const tailed = timed(() => this.#expect(this.#holdfast("tail", "--no-follow"), /The ferry to Cacilhas/));
    const started = performance.now();
    await this.#serve();
    const bundled = performance.now();
    await this.#bundle();
    const ended = performance.now();
    const modules = join(this.#folder, "node_modules");
    return {
      node: this.#major,
      seconds: {
        install,
        "ten lines": ten,
        add: added,
        query: queried,
        doctor: checked,
        tail: tailed,
        server: (bundled - started) / 1000,
        bundle: (ended - bundled) / 1000,
      },
      megabytes: bytesIn(modules) / 2 ** 20,
      packages: packagesIn(modules).length,
    };
  }

  /** As a user does it. npm reaches the registry; install scripts, which would run, reach nothing. */
  #install(tarball: string): void {
    const registry = new URL(execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim()).host;
    const env = { ...this.#env, npm_config_noproxy: registry, npm_config_ignore_scripts: "false" };
    const args = ["install", "--no-audit", "--no-fund", "--foreground-scripts", tarball];
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: this.#folder, encoding: "utf8", env });
    // npm's own words about its configuration are not the package's.
    const warnings = stderr
      .split("\n")
      .filter((line) => line !== "" && !/Unknown (user|env|builtin) config/.test(line));
    if (status !== 0 || warnings.length > 0) throw new Error(`npm install: ${warnings.join("\n")}${stdout}`);
    const lock = JSON.parse(readFileSync(join(this.#folder, "node_modules/.package-lock.json"), "utf8")) as Lock;
    refuseScripts(Object.entries(lock.packages));
  }

  #link(tarball: string): void {
    const modules = join(this.#folder, "node_modules");
    const unpacked = join(modules, "holdfast");
    mkdirSync(unpacked, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
    const { dependencies } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Described;
    for (const name of Object.keys(dependencies))
      cpSync(join(root, "node_modules", name), join(modules, name), { recursive: true });
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
    refuseScripts(Object.entries(lock.packages).filter(([, { dev, optional }]) => !dev && !optional));
  }

  #run(name: string, code: string): string {
    writeFileSync(join(this.#folder, name), code);
    return this.#output([name]);
  }

  /** With --json nothing but warnings goes to stderr. */
  #holdfast(...args: readonly string[]): string {
    return this.#output([...COMMAND, ...args, "--json", "--path", "cli.db"]);
  }

  /** What a program prints; it must end well and print nothing on stderr. */
  #output(args: readonly string[], cwd = this.#folder): string {
    const { status, stdout, stderr } = spawnSync(this.#node, args, { cwd, encoding: "utf8", env: this.#env });
    if (status === 0 && stderr === "") return stdout;
    throw new Error(`Node ${this.#major}: ${args.join(" ")} ended with ${status}\n${stderr}${stdout}`);
  }

  #expect(output: string, pattern: RegExp): void {
    if (!pattern.test(output)) throw new Error(`Node ${this.#major}: ${pattern} does not match ${output}`);
  }

  /** Serves, adds and asks with the client over HTTP, and stops by a signal. */
  async #serve(): Promise<void> {
    const args = [...COMMAND, "serve", "--port", "0", "--json", "--path", "served.db"];
    const server = spawn(this.#node, args, { cwd: this.#folder, env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(server, "close");
    const errors = textOf(server);
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const { url } = JSON.parse(line) as { readonly url: string };
    try {
      this.#expect(this.#run("client.js", CLIENT.replace("URL", url)), /^I moved to Porto in June\.\n/);
    } finally {
      server.kill("SIGTERM");
    }
    const [code] = (await ended) as [number | null];
    if (code !== 0 || errors() !== "")
      throw new Error(`Node ${this.#major}: the server ended with ${code}\n${errors()}`);
  }

  /** One file in an empty folder, with the package's files beside it. */
  async #bundle(): Promise<void> {
    const alone = join(this.#folder, "alone");
    await build({
      entryPoints: [join(this.#folder, "ten.js")],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: join(alone, "app.mjs"),
      logLevel: "error",
    });
    for (const path of ["package.json", "models", "dist/parts"])
      cpSync(join(this.#folder, "node_modules/holdfast", path), join(alone, "holdfast", path), { recursive: true });
    this.#expect(this.#output(["app.mjs"], alone), /^I moved to Lisbon in May\. true\n/);
    rmSync(alone, { recursive: true });
  }
}

interface Lock {
  readonly packages: { readonly [path: string]: { readonly [key in "hasInstallScript" | "dev" | "optional"]?: true } };
}

interface Described {
  readonly dependencies: { readonly [name: string]: string };
}

const COMMAND = ["node_modules/holdfast/dist/cli/main.js"];

const CLIENT = `
import { connect } from "holdfast/client";
const memory = connect("URL");
const session = memory.session({ user: "ada", session: "today" });
await session.add([{ role: "user", content: "I moved to Porto in June." }]);
let hits; do hits = await session.query("where does she live?"); while (hits.partial);
console.log(hits[0].content);
await memory.close();
`;

/** The README's first block, asking again while an answer is partial: a slow machine embeds late, and reports it. */
function tenLines(): string {
  const [, block = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  const patient = block.replace(
    /^const hits = (await session\.query\(.*\));$/m,
    "let hits; do hits = $1; while (hits.partial);",
  );
  if (patient === block) throw new Error("the README's ten lines have no query");
  return patient;
}

function refuseScripts(packages: readonly (readonly [string, Lock["packages"][string]])[]): void {
  const names = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  if (names.length > 0) throw new Error(`these packages run install scripts: ${names.join(", ")}`);
}

function textOf({ stderr }: ChildProcess): () => string {
  let text = "";
  stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

/** Seconds that it takes. */
function timed(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) / 1000;
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function packagesIn(modules: string): readonly string[] {
  return readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    return name.startsWith("@") ? readdirSync(join(modules, name)) : [name];
  });
}

const runtimes = new Map(majors.map((major) => [major, runtimeOf(major)]));
const packed = mkdtempSync(join(tmpdir(), "holdfast-newcomer-"));
try {
  const pack = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", packed];
  const [{ filename, size }] = JSON.parse(execFileSync("npm", pack, { cwd: root, encoding: "utf8" })) as [
    { readonly filename: string; readonly size: number },
  ];
  console.log(`packed: ${(size / 2 ** 20).toFixed(1)} MB`);
  console.log(["Node", ...STEPS, "MB", "packages", "warnings"].join(" | "));
  for (const [major, binary] of runtimes) {
    const folder = mkdtempSync(join(packed, `node${major}-`));
    const { node, seconds, megabytes, packages } = await new Newcomer(major, binary, folder).visit(
      join(packed, filename),
    );
    const times = STEPS.map((step) => seconds[step].toFixed(1));
    console.log([node, ...times, megabytes.toFixed(0), packages, 0].join(" | "));
    rmSync(folder, { recursive: true });
  }
} finally {
  rmSync(packed, { recursive: true });
}
