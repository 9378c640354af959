/** What can be wrong after a kill, each with the words it is reported in. */

export type Problem =
  /** Acknowledged, and not there, or not with its last edit. */
  | "lost"
  /** There twice, or a repetition that was taken for something new. */
  | "duplicated"
  /** At another place in its session than it was given. */
  | "out of order"
  /** Not acknowledged, and there in part. */
  | "torn"
  /** There, and should not be: never written, or forgotten. */
  | "ghost"
  /** There, and not found by a word in it. */
  | "unfound"
  /** A call that failed while the writer lived. */
  | "refused"
  /** The file is damaged. */
  | "unsound";

export interface Finding {
  readonly problem: Problem;
  readonly what: string;
}

export function count(findings: readonly Finding[], problem: Problem): number {
  return findings.filter((finding) => finding.problem === problem).length;
}
