/** The command line, on a file whose folders it makes. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { report } from "../support/child.js";
import { root } from "../support/root.js";
import { BY_WORDS, examined } from "./memory.js";
import { unsound, type Workload } from "./workload.js";

interface CommandReport {
  readonly say: "do" | "done";
  readonly message: number;
}

const MESSAGES = 3;

const fileOf = (folder: string): string => join(folder, "share", "holdfast", "memory.db");
const textOf = (message: number): string => `message ${message}`;

export const command: Workload = {
  name: "command line",
  images: 150,
  async work(folder) {
    for (let message = 1; message <= MESSAGES; message++) {
      report({ say: "do", message } satisfies CommandReport);
      const args = ["add", textOf(message), "--user", "ada", "--session", "monday", "--path", fileOf(folder)];
      execFileSync(process.execPath, [join(root, "dist/cli/main.js"), ...args]); // the shim goes with it
      report({ say: "done", message } satisfies CommandReport);
    }
  },
  async check(folder, reports) {
    const known = reports as readonly CommandReport[];
    const done = known.findLast(({ say }) => say === "done")?.message ?? 0;
    const path = fileOf(folder);
    if (!existsSync(path)) return done > 0 ? [{ problem: "lost", what: `${path} is not there` }] : [];
    const memory = await openMemory({ ...BY_WORDS, path });
    const { items } = await memory.session({ user: "ada" }).list({ order: "asc", limit: 100 });
    await memory.close();
    const found = items.map(({ content }) => content).join();
    const possible = [done, known.at(-1)?.message ?? 0].map((last) =>
      Array.from({ length: last }, (_, at) => textOf(at + 1)).join(),
    );
    const findings = (await examined(path)).map(unsound);
    if (possible.includes(found)) return findings;
    return [...findings, { problem: "lost", what: `found ${found}, not ${possible.join(" or ")}` }];
  },
};
