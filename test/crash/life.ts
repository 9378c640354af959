/**
 * One run of the writer, from its start to its kill. Its reports go into the record; returns the faults that were
 * found.
 */
import { Child } from "../support/child.js";
import type { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors, type Strategy } from "../support/vectors.js";
import type { Finding } from "./finding.js";
import type { Ledger } from "./ledger.js";
import type { Mood, Order, Report } from "./protocol.js";

/** The file, and what is known of it from life to life. */
export interface CrashFile {
  readonly path: string;
  readonly strategy: Strategy;
  /** Another process has it open, and may embed some of it. */
  readonly isShared: boolean;
  /** The commit up to which its vectors were compared with their texts. */
  comparedTo: number;
  /** Items that killed writers have left to be embedded, over all lives. */
  leftPending: number;
}

/** Near what the writer is killed: the opening of the file, a call's return, a checkpoint, a forget, or a flush. */
export type Moment = "opening" | "answer" | "checkpoint" | "forget" | "flush";

export interface Plan {
  readonly moment: Moment;
  /** Let so many of these moments pass. */
  readonly skip: number;
  readonly delayMs: number;
  readonly mood: Mood;
}

/** Words that are searched for after a kill, at most; after the last one it is all of them. */
const WORDS_MAX = 1_000;
/** Operations of one life are numbered from its own multiple of this on. */
const OPS_PER_LIFE = 100_000;

export function planLife(random: Random): Plan {
  const moment = random.weighted<Moment>({ opening: 2, answer: 4, checkpoint: 3, forget: 4, flush: 4 });
  const { skipMax, delayMax, mood } = PLANS[moment];
  return { moment, skip: random.between(0, skipMax), delayMs: random.fraction() * delayMax, mood };
}

const PLANS: {
  readonly [moment in Moment]: { readonly skipMax: number; readonly delayMax: number; readonly mood: Mood };
} = {
  opening: { skipMax: 0, delayMax: 120, mood: "mixed" },
  answer: { skipMax: 300, delayMax: 5, mood: "mixed" },
  checkpoint: { skipMax: 2, delayMax: 15, mood: "growing" },
  forget: { skipMax: 8, delayMax: 150, mood: "forgetting" },
  flush: { skipMax: 60, delayMax: 10, mood: "mixed" },
};

/** Starts the writer on the file and kills it as planned; without a plan it searches everything, closes and ends. */
export async function live(
  file: CrashFile,
  life: number,
  ledger: Ledger,
  random: Random,
  plan?: Plan,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const found: (Report & { say: "found" })["items"][number][] = [];
  let killed = false;
  let passed = 0;

  const { path, strategy } = file;
  const args = [path, strategy, String(plan ? file.comparedTo : 0)];
  const child = new Child<Order, Report>(new URL("./writer.js", import.meta.url), args, (report) => {
    switch (report.say) {
      case "opening":
        return reached("opening");
      case "found":
        found.push(...report.items);
        return;
      case "audit":
        findings.push(...ledger.audit(found), ...report.unsound.map(asFinding));
        file.comparedTo = report.commit;
        file.leftPending += report.pending;
        return go(ledger.search(random, plan && WORDS_MAX));
      case "searched":
        findings.push(...ledger.searched(report.unfound, report.ghosts));
        if (!plan) return go({ order: "close" });
        return go({
          order: "work",
          seed: random.between(0, 2 ** 32 - 1),
          firstOp: life * OPS_PER_LIFE,
          mood: plan.mood,
          repeat: ledger.repeatable,
        });
      case "do":
        ledger.begin(report.operation);
        if (["delete", "forget"].includes(report.operation.kind)) reached("forget");
        return;
      case "done":
        findings.push(...ledger.done(report.op, report.answer));
        return reached("answer");
      case "refused":
        findings.push({ problem: "refused", what: `${report.op}: ${report.why}` });
        return kill();
      case "checkpoint":
        return reached("checkpoint");
      case "flush":
        return reached("flush");
      case "embedded": {
        const { pending, parked } = report;
        if (!file.isShared && pending + parked > 0) findings.push(asFinding(`${pending} pending, ${parked} parked`));
        return;
      }
    }
  });

  /** One finding is enough: nothing more is written over the evidence. */
  function go(order: Order): void {
    if (findings.length > 0) kill();
    else child.give(order);
  }

  function reached(moment: Moment): void {
    if (moment === plan?.moment && passed++ === plan.skip) setTimeout(kill, plan.delayMs);
  }

  function kill(): void {
    killed = true;
    child.kill();
  }

  const { code, signal, stderr } = await child.ended;
  const expected = killed ? signal === "SIGKILL" : !plan && code === 0;
  if (!expected) throw new Error(`the writer ended by itself (${signal ?? code}): ${stderr}`);
  if (!plan) findings.push(...[...unsoundness(path), ...(await auditVectors(path, strategy)).problems].map(asFinding));
  return findings;
}

const asFinding = (what: string): Finding => ({ problem: "unsound", what });
