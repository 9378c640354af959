/** One run of the writer of blocks, facts and turns, from its start to its kill. Returns the faults that were found. */
import { Child } from "../support/child.js";
import type { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import type { CarriedBooks } from "./carried-books.js";
import type { CarriedKind } from "./carried-operation.js";
import type { CarriedOrder, CarriedReport } from "./carried-protocol.js";
import { unsoundCarried } from "./carried-unsound.js";
import type { Finding } from "./finding.js";

/** The writer is killed near its opening of the file, or near the beginning of such a call. */
export interface CarriedPlan {
  readonly moment: "opening" | CarriedKind;
  /** Let so many of these moments pass. */
  readonly skip: number;
  readonly delayMs: number;
}

/** Operations of one life are numbered from its own multiple of this on. */
const OPS_PER_LIFE = 100_000;

export function planCarried(random: Random): CarriedPlan {
  const moment = random.weighted({
    ...{ opening: 2, turn: 6, context: 5, reset: 2, forget: 1 },
    ...{ create: 1, edit: 3, drop: 2, learn: 3, repeat: 1, end: 1, retract: 1 },
  });
  if (moment === "opening") return { moment, skip: 0, delayMs: random.fraction() * 150 };
  return { moment, skip: random.between(0, SKIPS[moment] ?? 12), delayMs: random.fraction() * 8 };
}

/** Of what is rare fewer pass. */
const SKIPS: { readonly [kind in CarriedKind]?: number } = { forget: 0, drop: 3, reset: 3, end: 3, retract: 3 };

/** Starts the writer on the file and kills it as planned; without a plan it looks at what is there, closes and ends. */
export async function liveCarried(
  path: string,
  life: number,
  books: CarriedBooks,
  random: Random,
  plan?: CarriedPlan,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  let killed = false;
  let passed = 0;

  const module = new URL("./carried-writer.js", import.meta.url);
  const child = new Child<CarriedOrder, CarriedReport>(module, [path], (report) => {
    switch (report.say) {
      case "opening":
        return reached("opening");
      case "found":
        findings.push(...books.audit(report.lane, report.found));
        return;
      case "audit":
        findings.push(...report.unsound.map(asFinding));
        if (findings.length > 0) return kill(); // nothing more is written over the evidence
        if (!plan) return child.give({ order: "close" });
        return child.give({
          order: "work",
          seed: random.between(0, 2 ** 32 - 1),
          firstOp: life * OPS_PER_LIFE,
          states: books.states,
          unfinished: books.unfinished,
        });
      case "do":
        books.begin(report.operation);
        return reached(report.operation.kind);
      case "done":
        findings.push(...books.done(report.lane, report.op, report.answer));
        if (findings.length > 0) kill();
        return;
      case "refused":
        findings.push({ problem: "refused", what: `${report.op}: ${report.why}` });
        return kill();
      case "embedded":
        if (report.pending + report.parked > 0)
          findings.push(asFinding(`${report.pending} pending, ${report.parked} parked`));
        return;
    }
  });

  function reached(moment: CarriedPlan["moment"]): void {
    if (moment === plan?.moment && passed++ === plan.skip) setTimeout(kill, plan.delayMs);
  }

  function kill(): void {
    killed = true;
    child.kill();
  }

  const { code, signal, stderr } = await child.ended;
  const expected = killed ? signal === "SIGKILL" : !plan && code === 0;
  if (!expected) throw new Error(`the writer ended by itself (${signal ?? code}): ${stderr}`);
  if (!plan) {
    const { problems } = await auditVectors(path, "message");
    findings.push(...[...unsoundness(path), ...unsoundCarried(path), ...problems].map(asFinding));
  }
  return findings;
}

const asFinding = (what: string): Finding => ({ problem: "unsound", what });
