/** Imports facts: first each fact with its sources, then which fact superseded which. */
import type { BufferService } from "../service.js";
import { spaceKey } from "../space-key.js";
import { isFactId } from "../stores/fact-id.js";
import { FACT_STATES, type Fact, type RestoreFactWrite } from "../stores/facts.js";
import type { SpaceRef } from "../types.js";
import type { FactInput } from "./fact-line.js";
import type { SupersededInput } from "./line.js";
import { readBySpace } from "./read-by-space.js";
import type { Numbered, Tally, Written } from "./report.js";
import { writeEach } from "./write-each.js";

type Restoring = Numbered<RestoreFactWrite>;

export async function importFacts(
  service: BufferService,
  batch: readonly Numbered<FactInput>[],
  tally: Tally,
): Promise<void> {
  const now = service.clock.now();
  const idsOf = ({ sources }: FactInput) => sources.flatMap(({ message }) => message ?? []);
  const messages = await readBySpace(batch, idsOf, (space, ids) => service.store.get([space], ids, now));
  const restoring: Restoring[] = [];
  for (const { number, line } of batch) {
    const { type: _, ...fact } = line;
    // A fact may rest on another one that comes later. A missing message has expired or was skipped.
    const sources = fact.sources.filter(
      ({ message }) => message === undefined || isFactId(message) || messages.has(`${spaceKey(fact.space)} ${message}`),
    );
    const isOver = fact.expiresAt !== undefined && fact.expiresAt <= now;
    if (sources.length === 0 || isOver) tally.count("skipped");
    else restoring.push({ number, line: { op: "restore_fact", ...fact, sources } });
  }
  await restore(service, restoring, "facts", tally);
}

export async function importSuperseded(
  service: BufferService,
  batch: readonly Numbered<SupersededInput>[],
  tally: Tally,
): Promise<void> {
  const known = await readBySpace(
    batch,
    ({ id, by }) => [id, by],
    (space, ids) => readFacts(service, space, ids),
  );
  const restoring: Restoring[] = [];
  for (const { number, line } of batch) {
    const { space, id, from, by } = line;
    const fact = known.get(`${spaceKey(space)} ${id}`);
    const isKnown = known.has(`${spaceKey(space)} ${by}`) && fact?.spans.some((span) => span.from === from);
    if (fact && isKnown) restoring.push({ number, line: withLink(fact, line) });
    else tally.count("skipped");
  }
  await restore(service, restoring, "superseded", tally);
}

function withLink(fact: Fact, { from, by }: SupersededInput): RestoreFactWrite {
  const { id, space, category, content, confidence, pinned, state, sources, spans } = fact;
  const linked = spans.map((span) => (span.from === from ? { ...span, supersededBy: by } : span));
  return { op: "restore_fact", ...{ id, space, category, content, confidence, pinned, state, sources }, spans: linked };
}

async function restore(
  service: BufferService,
  restoring: readonly Restoring[],
  as: Written,
  tally: Tally,
): Promise<void> {
  if (restoring.length === 0) return;
  const units = restoring.map(({ line }) => [line]);
  const results = await writeEach(service, units, { mayConflict: true });
  for (const [at, { number, line }] of restoring.entries()) {
    const [done] = results[at] ?? [];
    if (done?.op !== "restore_fact") tally.conflict(number, line.id, "a fact");
    else tally.count(done.outcome === "unchanged" ? "repeated" : as);
  }
}

async function readFacts(service: BufferService, space: SpaceRef, ids: readonly string[]): Promise<readonly Fact[]> {
  const request = { spaces: [space], ids, states: FACT_STATES, limit: ids.length, now: service.clock.now() };
  return (await service.store.facts(request)).items;
}
