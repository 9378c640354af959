/** What a file contains of one lane, as its readers see it, and how that differs from what it should contain. */

import { payloadOf, vectorOf } from "./carried-operation.js";
import { type BlockState, type FactState, type LaneState, shown } from "./carried-state.js";
import type { Finding, Problem } from "./finding.js";
import { digest } from "./operation.js";

export interface CarriedFound {
  readonly messages: readonly { readonly text: string; readonly sequence: number }[];
  readonly blocks: readonly (BlockState & { readonly name: string })[];
  readonly facts: readonly (FactState & { readonly text: string })[];
  readonly points: readonly { readonly id: string; readonly vector: readonly number[]; readonly payload: unknown }[];
  /** Texts of what the ledger names. */
  readonly window: readonly string[];
  readonly resets: number;
  /** Texts of all items, and of those that a common word finds. */
  readonly listed: readonly string[];
  readonly searched: readonly string[];
}

/** The lane as a sound file shows it. */
export const expected = (state: LaneState): CarriedFound => ({
  messages: state.messages.map((text, at) => ({ text, sequence: at + 1 })),
  blocks: Object.entries(state.blocks).map(([name, block]) => ({ name, ...block })),
  facts: Object.entries(state.facts).map(([text, fact]) => ({ text, ...fact })),
  points: Object.entries(state.points).map(([id, op]) => ({ id, vector: vectorOf(op), payload: payloadOf(op) })),
  window: state.window,
  resets: state.resets,
  listed: shown(state),
  searched: shown(state),
});

/** One thing that is there or not, what there is to say of it, and what it means if that is missing or another. */
interface Row {
  readonly name: string;
  readonly value: string;
  readonly missing: Problem;
  readonly other: Problem;
}

function rowsOf(found: CarriedFound): Row[] {
  const row = (name: string, value: unknown, missing: Problem = "lost", other: Problem = "lost"): Row => ({
    name,
    value: JSON.stringify(value),
    missing,
    other,
  });
  return [
    ...found.messages.map(({ text, sequence }) =>
      row(`message ${wordIn(text)}`, [sequence, text], "lost", "out of order"),
    ),
    ...found.blocks.flatMap(({ name, content, version, log }) => [
      row(`block ${name}`, [version, digest(content)]),
      ...log.map((edit) => row(`block ${name} version ${edit.version}`, [edit.old, edit.new, edit.reason])),
    ]),
    ...found.facts.map(({ text, state, confidence, version, spans, sources }) =>
      row(`fact ${wordIn(text)}`, [text, state, confidence, version, spans, sources]),
    ),
    ...found.points.map(({ id, vector, payload }) => row(`point ${id}`, [vector, payload])),
    ...found.window.map((text) => row(`window ${wordIn(text)}`, text)),
    ...found.listed.map((text) => row(`listed ${wordIn(text)}`, text)),
    ...found.searched.map((text) => row(`searched ${wordIn(text)}`, text, "unfound")),
    row("resets", found.resets),
  ];
}

const wordIn = (text: string): string => text.replace(/ .*/s, "");

/** What is missing, twice, not what it should be, or too much. */
export function differences(wanted: CarriedFound, found: CarriedFound): Finding[] {
  const left = new Map(rowsOf(wanted).map((row) => [row.name, row]));
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const { name, value } of rowsOf(found)) {
    const should = left.get(name);
    if (seen.has(name)) findings.push({ problem: "duplicated", what: name });
    else if (!should) findings.push({ problem: "ghost", what: name });
    else if (should.value !== value)
      findings.push({ problem: should.other, what: `${name}: ${value}, not ${should.value}` });
    seen.add(name);
  }
  for (const { name, missing } of left.values()) if (!seen.has(name)) findings.push({ problem: missing, what: name });
  return findings;
}
