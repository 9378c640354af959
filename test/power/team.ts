/** The JSON files of the team memory: saves and deletions of some agents, in folders that are made on the way. */
import { join } from "node:path";
import { HoldfastError } from "holdfast";
import { ConversationMemory, MemoryManager } from "../compat/agent-teams/product.js";
import type { Finding } from "../crash/finding.js";
import { report } from "../support/child.js";
import type { Random } from "../support/random.js";
import { unsound, type Workload } from "./workload.js";

/** Each call about an agent leaves a state, numbered from 1 on; before the first there is nothing. */
interface TeamReport {
  readonly say: "do" | "done";
  readonly team: string;
  readonly agent: string;
  readonly state: number;
  /** The state is that there is no memory. */
  readonly isGone: boolean;
}

const TEAMS = ["red", "blue"];
const AGENTS = ["ada", "ben"];
const CALLS = 14;

/** Several of its folders are missing at first. */
const baseOf = (folder: string): string => join(folder, "data", "teams", "memories");

export const team: Workload = {
  name: "team memory (JSON)",
  images: 400,
  async work(folder, random) {
    const manager = new MemoryManager(baseOf(folder));
    await Promise.all(
      TEAMS.flatMap((team) =>
        AGENTS.map(async (agent) => {
          for (let state = 1; state <= CALLS; state++) await perform(manager, random, { team, agent, state });
        }),
      ),
    );
  },
  async check(folder, reports) {
    const findings: Finding[] = [];
    const manager = new MemoryManager(baseOf(folder));
    for (const team of TEAMS) {
      for (const agent of AGENTS) findings.push(...(await audit(manager, team, agent, reports as TeamReport[])));
    }
    return findings;
  },
};

async function perform(
  manager: InstanceType<typeof MemoryManager>,
  random: Random,
  call: Pick<TeamReport, "team" | "agent" | "state">,
): Promise<void> {
  const { team, agent, state } = call;
  const isGone = random.chance(0.2);
  report({ say: "do", ...call, isGone } satisfies TeamReport);
  if (isGone) await manager.delete(team, agent);
  else await manager.save(team, agent, memoryOf(state));
  report({ say: "done", ...call, isGone } satisfies TeamReport);
}

/** Some are longer than a page. */
function memoryOf(state: number): InstanceType<typeof ConversationMemory> {
  const memory = new ConversationMemory();
  memory.recordTurn("user", String(state));
  memory.recordTurn("assistant", `${state} `.repeat(state % 3 === 0 ? 4_000 : 20));
  return memory;
}

/** An agent's memory is as the last call that returned has left it, or as one that was under way. */
async function audit(
  manager: InstanceType<typeof MemoryManager>,
  team: string,
  agent: string,
  reports: readonly TeamReport[],
): Promise<Finding[]> {
  const mine = reports.filter((report) => report.team === team && report.agent === agent);
  const known = mine.findLast(({ say }) => say === "done") ?? { state: 0, isGone: true };
  const possible = [known, ...mine.filter(({ state }) => state > known.state)];
  try {
    const found = await manager.load(team, agent);
    const what = `${team}/${agent}: found ${found?.turns[0]?.content ?? "nothing"}, not ${JSON.stringify(possible)}`;
    if (!found) return possible.some(({ isGone }) => isGone) ? [] : [{ problem: "lost", what }];
    const state = Number(found.turns[0]?.content);
    if (found.turns[1]?.content !== memoryOf(state).turns[1]?.content) return [{ problem: "torn", what }];
    if (possible.some((one) => one.state === state && !one.isGone)) return [];
    return [{ problem: known.isGone ? "ghost" : "lost", what }];
  } catch (error) {
    if (error instanceof HoldfastError) return [unsound(`${team}/${agent}: ${error.message}`)];
    throw error;
  }
}
