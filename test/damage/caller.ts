/**
 * A process that calls the whole library on a damaged file, and reports every call that did not behave as it must:
 * return a value, or throw a HoldfastError with a hint. It also reports errors that would crash a process.
 */
import { copyFileSync } from "node:fs";
import {
  backupFile,
  exportLines,
  fileContents,
  HoldfastError,
  importLines,
  inspectFile,
  type Memory,
  openMemory,
  repairFile,
  restoreFile,
} from "holdfast";
import { onOrder, report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { Random } from "../support/random.js";
import { ALTERED, alterTables, DAMAGES } from "./damages.js";

export interface Order {
  /** A sound file, a copy of which is damaged. */
  readonly sound: string;
  readonly path: string;
  readonly damage: string;
  readonly seed: number;
  /** Whether the copy is opened before it is damaged. */
  readonly isOpen: boolean;
}

export interface Report {
  readonly refused: number;
  readonly answered: number;
  /** Violations. */
  readonly faults: readonly string[];
}

const HANG_MS = 120_000;
/** Reads: whatever happens, they are known to have written nothing. */
const READS = /^(query|list|get|context|blocks\.(get|list|history|version)|facts\.(list|get|query)|stats|keys\.list)/;

const ADA = { user: "ada", session: "monday" };

let faults: string[] = [];
let counts = { refused: 0, answered: 0 };

process.on("uncaughtException", (error) => note(`uncaught: ${error.stack}`));
process.on("unhandledRejection", (error) => note(`unhandled: ${(error as Error)?.stack}`));

function note(fault: string): void {
  if (!faults.includes(fault)) faults.push(fault);
}

async function call<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("hangs")), HANG_MS);
  });
  try {
    const value = await Promise.race([work(), late]);
    counts.answered++;
    return value;
  } catch (error) {
    counts.refused++;
    const fault = faultOf(name, error);
    if (fault !== undefined) note(`${name}: ${fault}`);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function faultOf(name: string, error: unknown): string | undefined {
  if (!(error instanceof HoldfastError)) return `raw error: ${(error as Error)?.stack ?? String(error)}`;
  if (!error.hint) return `no hint: ${error.code} ${error.stack}`;
  if (/ERR_|vtable|SQLITE|undefined|is not a function/.test(error.message)) return `driver's words: ${error.message}`;
  if (READS.test(name) && error.code === "outcome_unknown") return "a read of unknown outcome";
  return undefined;
}

async function useMemory(memory: Memory): Promise<void> {
  const session = memory.session(ADA, { grants: [{ team: "crew" }] });
  const ids = (await call("list", () => session.list({ limit: 20 })))?.items.map(({ id }) => id) ?? ["m1"];
  await call("list by time", () => session.list({ sortBy: "timestamp", limit: 50 }));
  await call("list by metadata", () => session.list({ metadata: { topic: "garden" } }));
  await call("get", () => session.get(ids));
  await call("query", () => session.query("the garden by the river"));
  await call("query all", () => memory.session({ user: "ada" }).query("garden river 7", { topK: 100 }));
  await call("query filtered", () => session.query("garden", { role: "user" }));
  await call("context", () => session.context({ query: "garden", counter: "chars4" }));
  await call("blocks.list", () => session.blocks.list());
  await call("blocks.get", () => session.blocks.get("persona"));
  await call("blocks.history", () => session.blocks.history("persona"));
  await call("blocks.version", () => session.blocks.version("persona", 1));
  await call("blocks.edit", () => session.blocks.edit("persona", { append: " more", reason: "test" }));
  await call("facts.list", () => session.facts.list());
  await call("facts.query", () => session.facts.query("lives"));
  await call("facts.upsert", () => session.facts.upsert({ category: "home", content: "Ada lives in Faro" }));
  await call("ledger", () => session.ledger());
  await call("promotions", () => session.promotions());
  await call("add", () => session.add([{ role: "user", content: "one more garden" }], { idempotencyKey: "again" }));
  await call("addBatch", () =>
    session.addBatch([[{ role: "user", content: "two" }], [{ role: "user", content: "3" }]]),
  );
  await call("update", () => session.update(ids[1] ?? "m1", { content: "another text" }));
  await call("promote", () => session.promote([ids[2] ?? "m2"], { to: { team: "crew" }, reason: "all should know" }));
  await call("turn", () => {
    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "a turn" } });
    return session.commit(turn);
  });
  await call("flush", () => memory.flush());
  await call("parked", () => session.parked());
  await call("replay", () => session.replay());
  await call("users", () => memory.users.list());
  await call("sessions", () => memory.sessions.list({ space: { user: "ada" } }));
  await call("rename", () => memory.users.rename("bob", "rob"));
  await call("keys.list", () => memory.keys.list());
  await call("keys.create", () => memory.keys.create({ name: "k", access: "read", spaces: [{ user: "ada" }] }));
  await call("delete", () => session.delete(ids.slice(3, 6)));
  await call("forget session", () => memory.forget({ user: "ada", session: "tuesday" }));
  await call("forget", () => memory.forget({ user: "bob" }));
  await call("sweep", () => memory.service.sweep());
  await call("stats", () => memory.stats());
  const lines: string[] = [];
  await call("export", async () => {
    for await (const line of exportLines(memory)) lines.push(line);
  });
  if (lines.length > 0) await call("import", () => importLines(memory, lines));
}

function damageFile({ path, damage, seed }: Order): void {
  const change = DAMAGES[damage];
  if (change) change(path, new Random(seed));
  else alterTables(path, ALTERED[damage] as string);
}

async function run(order: Order): Promise<Report> {
  const { sound, path, isOpen } = order;
  faults = [];
  counts = { refused: 0, answered: 0 };
  copyFileSync(sound, path);
  if (!isOpen) damageFile(order);
  const options = { path, embedder: new HashEmbedder(), buffer: { closeMs: 2_000 }, store: { busyTimeoutMs: 300 } };
  const memory = await call("open", () => openMemory(options));
  if (isOpen) damageFile(order);
  if (memory) {
    await useMemory(memory);
    await call("close", () => memory.close());
  }
  await call("contents", () => fileContents({ path }));
  await call("doctor", () => inspectFile({ path, deep: true, model: "none" }));
  await call("backup", () => backupFile({ path, to: `${path}.backup` }));
  await call("restore", () => restoreFile({ from: path, to: `${path}.restored` }));
  await call("restore over it", () => restoreFile({ from: sound, to: path, overwrite: true }));
  await call("doctor --repair", () => repairFile({ path, model: "none" }));
  await new Promise((resolve) => setImmediate(resolve)); // unhandled rejections are reported by then
  return { ...counts, faults };
}

onOrder<Order>((order) => {
  run(order).then(report, (error: Error) => report({ refused: 0, answered: 0, faults: [`the test: ${error.stack}`] }));
});
report("ready");
