/** Random operations on a guarded embedder, against a small model of its circuit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { FakeClock } from "../testing/fake-clock.js";
import type { Embedder } from "./embedder.js";
import { GuardedEmbedder } from "./guarded.js";

const DIMENSIONS = 3;
const GOOD = Float32Array.of(0, 0, 1);

const FAULTS = {
  failure: () => Promise.reject(new HoldfastError("embedder_failed", "down")),
  unknown: () => Promise.reject(new RangeError("odd")),
  short: async () => [Float32Array.of(1, 0)],
  long: async () => [Float32Array.of(1, 0, 0, 0)],
  nan: async () => [Float32Array.of(0, Number.NaN, 1)],
  none: async () => [],
  many: async () => [GOOD, GOOD],
} satisfies { [name: string]: () => Promise<readonly Float32Array[]> };
const QUIET = {
  refusal: () => Promise.reject(new HoldfastError("text_refused", "too long", { details: { index: 0 } })),
  space: () => Promise.reject(new HoldfastError("vector_space", "another model")),
} satisfies { [name: string]: () => Promise<readonly Float32Array[]> };
const OUTCOMES = { ...FAULTS, ...QUIET, success: async () => [GOOD] };

type Outcome = keyof typeof OUTCOMES;
type Step = { readonly call: Outcome } | { readonly passMs: number };

/** What the circuit should do, in its simplest form. */
class CircuitModel {
  failures = 0;
  openUntil: number | undefined;
  openMs = 10_000;
  passed = 0;

  get circuit(): string {
    if (this.openUntil === undefined) return "closed";
    return this.passed < this.openUntil ? "open" : "half-open";
  }

  succeed(): void {
    this.failures = 0;
    this.openUntil = undefined;
    this.openMs = 10_000;
  }

  fail(): void {
    const wasClosed = this.circuit === "closed";
    this.failures++;
    if (wasClosed && this.failures < 5) return;
    this.openUntil = this.passed + this.openMs;
    this.openMs = Math.min(this.openMs * 2, 60_000);
  }
}

const isFault = (outcome: Outcome): boolean => Object.hasOwn(FAULTS, outcome);
const outcomes = Object.keys(OUTCOMES) as Outcome[];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...outcomes).map((call) => ({ call })) },
  { weight: 2, arbitrary: fc.constant({ call: "failure" as const }) },
  { weight: 2, arbitrary: fc.constantFrom(1, 5_000, 9_999, 10_000, 20_000, 60_000).map((passMs) => ({ passMs })) },
);

describe("a guarded embedder through random failures, refusals and waits", () => {
  it("passes on no bad vector, and its circuit follows the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let next: Outcome = "success";
        let asked = 0;
        const inner: Embedder = {
          model: "scripted",
          describe: async () => ({
            space: { model: "scripted", runtime: "test", dimensions: DIMENSIONS },
            tokensMax: 10,
          }),
          countTokens: async (texts) => texts.map(() => 1),
          embed: () => {
            asked++;
            return OUTCOMES[next]();
          },
          close: async () => {},
        };
        const clock = new FakeClock();
        const guard = new GuardedEmbedder(inner, { clock });
        const model = new CircuitModel();
        for (const step of steps) {
          if ("passMs" in step) {
            clock.advance(step.passMs);
            model.passed += step.passMs;
          } else {
            next = step.call;
            const before = { asked, circuit: model.circuit };
            const answer = await guard.embed(["text"], { urgent: true }).catch((error: unknown) => error);
            expect(asked - before.asked).toBe(before.circuit === "open" ? 0 : 1);
            if (before.circuit === "open" || isFault(step.call)) {
              expect(answer).toMatchObject({ code: "embedder_failed" });
              if (before.circuit === "open") expect(answer).toMatchObject({ details: { circuit: "open" } });
              else model.fail();
            } else if (step.call === "success") {
              expect(answer).toEqual([GOOD]);
              model.succeed();
            } else {
              expect(answer).toMatchObject({ code: expect.stringMatching(/^(text_refused|vector_space)$/) });
            }
          }
          expect(guard.status()).toMatchObject({ circuit: model.circuit, failures: model.failures });
        }
        await guard.close();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
