/** Formats recall: per cent, overall and by category. */
import type { RecallData } from "./recall-data.js";
import type { RecallScore, RecallSummary } from "./recall-score.js";
import { table } from "./table.js";

const MEASURES = ["any@5", "any@10", "all@10", "recall@10", "mrr"] as const;

export function printRecall(
  folder: string,
  data: RecallData,
  arms: readonly { readonly name: string; readonly summary: RecallSummary }[],
): string {
  const [first] = arms;
  const lines = [`${folder}: ${data.turns.length} turns, ${data.questions.length} questions; per cent`, ""];
  if (first) {
    lines.push(table([first.name, "n", ...MEASURES], rowsOf(first.summary)));
  }
  if (arms.length > 1) {
    lines.push(
      "Ablations: overall",
      armTable(arms, ({ overall }) => overall),
    );
    if (first?.summary.withoutAdversarial)
      lines.push(
        "Ablations: without adversarial",
        armTable(arms, (summary) => summary.withoutAdversarial),
      );
  }
  return lines.join("\n");
}

function rowsOf({ overall, withoutAdversarial, categories }: RecallSummary): string[][] {
  return [
    ["overall", ...cells(overall)],
    ...(withoutAdversarial ? [["without adversarial", ...cells(withoutAdversarial)]] : []),
    ...Object.entries(categories).map(([name, score]) => [`  ${name}`, ...cells(score)]),
  ];
}

function armTable(
  arms: readonly { readonly name: string; readonly summary: RecallSummary }[],
  of: (summary: RecallSummary) => RecallScore | undefined,
): string {
  const rows = arms.flatMap(({ name, summary }) => {
    const score = of(summary);
    return score ? [[name, ...cells(score)]] : [];
  });
  return table(["arm", "n", ...MEASURES], rows);
}

const cells = (score: RecallScore): string[] => [
  String(score.n),
  ...MEASURES.map((measure) => (100 * score[measure]).toFixed(1)),
];
