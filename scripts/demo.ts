/**
 * The guided demo behind `npm run demo`: a process adds a conversation and is killed in the middle; a second process opens the
 * file and shows that every acknowledged message is there, in order, and can be found.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type NewMessage, openMemory, renderText } from "holdfast";

const CONVERSATION: readonly NewMessage[] = [
  { role: "user", content: "Hi! I'm Ada. I moved to Lisbon in May." },
  { role: "assistant", content: "Welcome to Lisbon, Ada! How is the new flat?" },
  { role: "user", content: "Small but sunny. My cat Turing loves the balcony 🐈." },
  { role: "assistant", content: "Turing has good taste. Anything you miss from Porto?" },
  { role: "user", content: "The bakery on Rua das Flores. And I am allergic to peanuts, please remember that." },
  { role: "assistant", content: "Noted: no peanuts. I will look for a bakery near you." },
];
const scope = { user: "ada", agent: "tutor", session: "demo" };

if (process.argv[2] === "writer") await write(process.argv[3] as string);
else await demonstrate();

/** The first process: reports every acknowledged message to its parent, for ever. */
async function write(path: string): Promise<void> {
  const memory = await openMemory({ path });
  const session = memory.session(scope);
  for (let round = 1; ; round++) {
    for (const message of CONVERSATION) {
      const text = round === 1 ? message.content : `(round ${round}) ${message.content}`;
      const { sequences } = await session.add([{ ...message, content: text as string }]);
      process.send?.({ sequence: sequences[0], content: text });
    }
  }
}

async function demonstrate(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
  const path = join(folder, "agent.db");
  console.log("Holdfast: memory for agents. Everything acknowledged is on disk and searchable.\n");
  console.log(`1. A process adds a conversation to ${path},`);
  console.log("   one message at a time, each acknowledged when it is durable and searchable.");
  const child = fork(fileURLToPath(import.meta.url), ["writer", path]);
  const acknowledged = await listenThenKill(child, 200);
  console.log(
    `\n2. After ${acknowledged.length} acknowledgements it is killed with SIGKILL, in the middle of its work.`,
  );

  console.log("\n3. A second process opens the file.");
  const memory = await openMemory({ path });
  const session = memory.session(scope);
  const found = new Map<number, string>();
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await session.list({ order: "asc", limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const item of page.items) found.set(item.sequence ?? 0, item.content);
    cursor = page.next;
  }
  const lost = acknowledged.filter(({ sequence, content }) => found.get(sequence) !== content);
  const inOrder = [...found.keys()].every((sequence, at) => sequence === at + 1);
  console.log(`   acknowledged ${acknowledged.length} · in the file ${found.size} · lost ${lost.length}`);
  console.log(`   sequences 1 to ${found.size} without a gap: ${inOrder ? "yes" : "NO"}`);

  console.log("\n4. It embeds what the dead process left behind (normally in the background; the demo waits for it).");
  const started = performance.now();
  const { pending } = await memory.flush();
  console.log(
    `   done in ${Math.round(performance.now() - started)} ms, including loading the model; left: ${pending}`,
  );

  console.log("\n5. It asks questions in other words.");
  for (const question of ["which city is her new home?", "what must she not eat?", "does she have a pet?", "🐈"]) {
    const started = performance.now();
    const [hit] = await session.query(question, { topK: 1 });
    const took = `${Math.round(performance.now() - started)} ms`;
    console.log(`   ${question.padEnd(27)} ${took.padStart(7)}  → ${hit ? `${hit.role}: ${hit.content}` : "nothing"}`);
  }

  console.log("\n6. It keeps a block and facts, and puts them into a prompt of at most 200 tokens.");
  await session.blocks.create({ name: "persona", content: "Ada lives in Porto." });
  await session.blocks.edit("persona", { replace: "Porto", with: "Lisbon", reason: "she moved" });
  const { fact } = await session.facts.upsert({ category: "home", content: "Ada lives in Porto" });
  await session.facts.upsert({ category: "home", content: "Ada lives in Lisbon", supersedes: fact.id });
  const asked = { query: "what must she not eat?", budgetTokens: 200, topK: 1, turns: 0 };
  const context = await session.context(asked);
  for (const line of renderText(context).split("\n")) console.log(`   | ${line}`);
  const again = await session.context(asked);
  console.log(
    `   ${context.tokens.total} tokens; ${again.tokens.total} when asked again: nothing is repeated that the model has already seen.`,
  );
  await memory.close();
  rmSync(folder, { recursive: true });
  const sound = lost.length === 0 && inOrder;
  console.log(
    sound
      ? "\nNothing was lost. Read README.md for the ten lines that do this in your program."
      : "\nSomething was lost!",
  );
  process.exitCode = sound ? 0 : 1;
}

interface Acknowledged {
  readonly sequence: number;
  readonly content: string;
}

/** Collects acknowledgements, then kills the process after this many. */
function listenThenKill(child: ChildProcess, count: number): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  return new Promise((resolve, reject) => {
    child.on("message", (message: Acknowledged) => {
      acknowledged.push(message);
      if (acknowledged.length === count) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (signal === "SIGKILL") resolve(acknowledged);
      else reject(new Error(`the writer ended by itself (${signal ?? code})`));
    });
  });
}
