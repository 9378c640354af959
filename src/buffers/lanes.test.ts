import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Job, Lanes } from "./lanes.js";

const LIMITS = { messages: 10, bytes: 1_000 };

interface NamedJob extends Job {
  readonly name: string;
}

function job(lane: string, name: string, sizes: readonly number[], stepwise = false): NamedJob {
  const units = sizes.map((messages) => ({ unit: [], messages, bytes: messages * 10 }));
  return { lane, name, units, stepwise, taken: 0 };
}

const names = (lanes: Lanes<NamedJob>, limits = LIMITS): string[] =>
  lanes.takeGroup(limits).map(({ job, index }) => `${job.name}${index}`);

describe("lanes", () => {
  it("take turns, so that a single write passes a batch in another lane", () => {
    const lanes = new Lanes<NamedJob>();
    lanes.push(job("a", "batch", Array(50).fill(1)));
    lanes.push(job("b", "single", [1]));
    expect(names(lanes).slice(0, 3)).toEqual(["batch0", "single0", "batch1"]);
  });

  it("keep the order of their jobs", () => {
    const lanes = new Lanes<NamedJob>();
    lanes.push(job("a", "first", [1, 1]));
    lanes.push(job("a", "second", [1]));
    expect(names(lanes)).toEqual(["first0", "first1", "second0"]);
    expect(lanes.isEmpty).toBe(true);
  });

  it("give at most one unit of a stepwise job to a group, and nothing behind it in its lane", () => {
    const lanes = new Lanes<NamedJob>();
    lanes.push(job("a", "steps", [1, 1], true));
    lanes.push(job("a", "behind", [1]));
    lanes.push(job("b", "beside", [1]));
    expect(names(lanes)).toEqual(["steps0", "beside0"]);
    expect(names(lanes)).toEqual(["steps1"]);
    expect(names(lanes)).toEqual(["behind0"]);
  });

  it("drop the rest of an abandoned job and go on with the next", () => {
    const lanes = new Lanes<NamedJob>();
    const steps = job("a", "steps", [1, 1, 1], true);
    lanes.push(steps);
    lanes.push(job("a", "behind", [1]));
    expect(names(lanes)).toEqual(["steps0"]);
    lanes.abandon(steps);
    expect(names(lanes)).toEqual(["behind0"]);
  });

  it("end a group at its limits, but take a unit that alone exceeds them", () => {
    const lanes = new Lanes<NamedJob>();
    lanes.push(job("a", "huge", [500]));
    lanes.push(job("b", "small", [4, 4, 4]));
    expect(names(lanes)).toEqual(["huge0"]);
    expect(names(lanes)).toEqual(["small0", "small1"]);
    expect(names(lanes, { messages: 10, bytes: 30 })).toEqual(["small2"]);
  });

  it("give every unit exactly once, in order within a lane, in groups within the limits", () => {
    const jobs = fc.array(
      fc.record({
        lane: fc.constantFrom("a", "b", "c"),
        sizes: fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 6 }),
        stepwise: fc.boolean(),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(jobs, (given) => {
        const lanes = new Lanes<NamedJob>();
        for (const [at, { lane, sizes, stepwise }] of given.entries()) lanes.push(job(lane, `${at}`, sizes, stepwise));
        const taken = new Map<string, string[]>();
        while (!lanes.isEmpty) {
          const group = lanes.takeGroup(LIMITS);
          expect(group.length).toBeGreaterThan(0);
          const messages = group.reduce((sum, { sized }) => sum + sized.messages, 0);
          if (group.length > 1) expect(messages).toBeLessThanOrEqual(LIMITS.messages);
          for (const { job, index } of group)
            taken.set(job.lane, [...(taken.get(job.lane) ?? []), `${job.name}/${index}`]);
        }
        for (const lane of ["a", "b", "c"]) {
          const expected = given.flatMap(({ sizes, ...job }, at) =>
            job.lane === lane ? sizes.map((_, index) => `${at}/${index}`) : [],
          );
          expect(taken.get(lane) ?? []).toEqual(expected);
        }
      }),
    );
  });
});
