/**
 * Random writes of a few facts and messages, compared with a plain model of them: the store gives the same answers at
 * any time. Each run has a space of its own.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { FactSource } from "../../stores/facts.js";
import type { Write } from "../../stores/store.js";
import { END, type FactOperation, PlainFacts, textOf } from "../model/plain-facts.js";
import type { Check } from "./check.js";
import { FactProbe } from "./fact-probe.js";

const RUNS = 100;
const FACTS = ["f0", "f1", "f2", "f3"] as const;
const MESSAGES = ["m0", "m1", "m2"] as const;
const SESSIONS = ["s0", "s1"] as const;
const fact = fc.constantFrom(...FACTS);
const message = fc.constantFrom(...MESSAGES);
const session = fc.constantFrom(...SESSIONS);
const time = fc.integer({ min: 0, max: END - 1 });
const source: fc.Arbitrary<FactSource> = fc.oneof(
  { weight: 3, arbitrary: message.map((id) => ({ message: id })) },
  fact.map((id) => ({ message: id })),
  session.map((name) => ({ session: name })),
  fc.constant({}),
);

const operation: fc.Arbitrary<FactOperation> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      id: message,
      session: fc.option(session, { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      id: fact,
      from: time,
      confidence: fc.constantFrom(0.5, 1),
      source,
      supersedes: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.uniqueArray(fact, { maxLength: 2 })),
      force: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      id: fact,
      at: time,
      as: fc.constantFrom("ended" as const, "retracted" as const),
    }),
  },
  fc.record({
    do: fc.constant("forget" as const),
    ids: fc.uniqueArray(fc.oneof(fact, message), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ do: fc.constant("forget session" as const), session, entry: fc.boolean() }),
);

type Writing = Exclude<FactOperation, { readonly do: "forget" | "forget session" }>;

function writeOf(operation: Writing, facts: FactProbe): Write {
  if (operation.do === "put") {
    const { do: _do, id, ...draft } = operation;
    return facts.putting(id, draft);
  }
  if (operation.do === "end") return facts.ending(operation.id, operation.at, operation.as);
  const { id, session: home } = operation;
  return facts.probe.adding(facts.space, [{ id }], home === undefined ? {} : { session: home });
}

/** The store's answers in the terms of the model. */
async function answer(operation: FactOperation, facts: FactProbe) {
  const { space } = facts;
  if (operation.do === "forget" || operation.do === "forget session") {
    const { do: what, ...target } = operation;
    const done = await facts.forget({ space, ...target });
    expect(done.sessions).toBeLessThanOrEqual(what === "forget" ? 0 : 1);
    return { facts: done.facts, factsLeft: [...done.factsLeft].sort() };
  }
  const [outcome] = (await facts.probe.commit([writeOf(operation, facts)])).outcomes;
  return outcome?.ok ? "ok" : outcome?.error.code;
}

async function compare(facts: FactProbe, model: PlainFacts): Promise<void> {
  const sorted = (ids: readonly string[]) => [...ids].sort();
  const all = await facts.query({ states: ["holds", "ended", "retracted"] });
  const told = all.map(({ id, confidence, state, sources }) => [id, confidence, state, sorted(sources.map(textOf))]);
  const expected = [...model.facts].map(([id, { confidence, retracted, since, sources }]) => {
    const state = retracted ? "retracted" : since === undefined ? "ended" : "holds";
    return [id, confidence, state, sorted([...sources])];
  });
  expect(told, "in the order of recording").toEqual(expected);
  for (const { spans } of all) {
    const times = spans.flatMap(({ from, to = Infinity }) => [from, to]);
    expect(times, "in order, without overlap").toEqual([...times].sort((a, b) => a - b));
  }
  for (let asOf = 0; asOf <= END; asOf++)
    expect(await facts.ids({ asOf }), `as of ${asOf}`).toEqual(model.heldAt(asOf));
  const items = await facts.probe.ids(facts.space, { filter: { kinds: ["fact"] } });
  expect(sorted(items), "what holds is an item").toEqual(sorted(model.holding()));
  expect(sorted(await facts.probe.found(facts.space, "content"))).toEqual(sorted(model.holding()));
  expect(await facts.probe.sessionNames(facts.space)).toEqual(sorted([...model.sessions]));
}

export function factModel(check: Check): void {
  check("in random sequences of writes", async (probe) => {
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 25, size: "max" }),
      async (all) => {
        const facts = new FactProbe(probe, { user: `run ${++run}` });
        const model = new PlainFacts();
        for (const one of all) {
          expect(await answer(one, facts), JSON.stringify(one)).toEqual(model.apply(one));
        }
        await compare(facts, model);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
}
