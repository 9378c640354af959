/** The buffer store: pushes, leases, acknowledgements, injected ids. */
import { join } from "node:path";
import { SqliteBufferStore } from "holdfast/buffer-store";
import { Books } from "../compat/buffer-store/books.js";
import { BufferCalls, look, type Payload } from "../compat/buffer-store/buffer-calls.js";
import type { Report } from "../compat/buffer-store/protocol.js";
import { unsoundBuffer } from "../compat/buffer-store/unsound.js";
import type { Finding } from "../crash/finding.js";
import { unsound, type Workload } from "./workload.js";

const LIVES = 3;
const CALLS = 150;
const LEASE_MS = 20;

const fileOf = (folder: string): string => join(folder, "buffer.db");

export const buffer: Workload = {
  name: "buffer store",
  images: 400,
  async work(folder, random) {
    let number = 1;
    for (let life = 0; life < LIVES; life++) {
      const store = new SqliteBufferStore<Payload>(fileOf(folder));
      const buffer = new BufferCalls(store);
      for (let made = 0; made < CALLS; made++) buffer.make(buffer.choose(random, number++), LEASE_MS);
      store.close();
    }
  },
  async check(folder, reports) {
    const books = new Books();
    for (const report of reports as readonly Report[]) {
      if (report.say === "begin") books.begin(report.call);
      // That a lease ran out and was overtaken is no fault of the file.
      if (report.say === "done") books.end(report.numbers);
    }
    const store = new SqliteBufferStore<Payload>(fileOf(folder));
    const problems = books.audit(look(store, books.ids));
    store.close();
    return [...problems.map(asFinding), ...unsoundBuffer(fileOf(folder)).map(unsound)];
  },
};

/** The books of the buffer say in words what is wrong. */
function asFinding(what: string): Finding {
  if (what.startsWith("kept") || what.startsWith("injected id lost")) return { problem: "lost", what };
  return { problem: what.startsWith("came back") ? "ghost" : "unsound", what };
}
