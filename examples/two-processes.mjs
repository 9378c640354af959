// Two processes share one file: each finds at once what the other has added. No server, no lock to manage.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "holdfast";

const [, , path] = process.argv;
if (path === undefined) await parent();
else await child(path);

async function parent() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
  const shared = join(folder, "shared.db");
  const memory = await openMemory({ path: shared });
  const session = memory.session({ team: "crew", agent: "planner", session: "launch" });
  await session.add([{ role: "user", content: "The launch is on Thursday at nine." }]);

  // The other process opens the file while this one has it open.
  const printed = execFileSync(process.execPath, [fileURLToPath(import.meta.url), shared], { encoding: "utf8" });
  process.stdout.write(printed);

  const { items } = await session.list({ order: "asc" });
  for (const { sequence, agent, content } of items) console.log(`${sequence} ${agent}: ${content}`);
  await memory.close();
  await rm(folder, { recursive: true });
}

/** @param {string} shared */
async function child(shared) {
  const memory = await openMemory({ path: shared });
  const session = memory.session({ team: "crew", agent: "writer", session: "launch" });
  const hits = await session.query("when do we launch?");
  console.log(`the writer found: ${hits[0]?.content}`);
  await session.add([{ role: "assistant", content: "The announcement is scheduled for Thursday, 9:00." }]);
  await memory.close();
}
