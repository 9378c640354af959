import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { Breaker, type Permit } from "./breaker.js";

const OPTIONS = { failuresMax: 3, openMs: 10_000, openMaxMs: 60_000 };

function opened(): { clock: FakeClock; breaker: Breaker } {
  const clock = new FakeClock();
  const breaker = new Breaker(clock, OPTIONS);
  for (let failure = 0; failure < OPTIONS.failuresMax; failure++) permitOf(breaker).failed();
  return { clock, breaker };
}

function permitOf(breaker: Breaker): Permit {
  const permit = breaker.admit();
  if (!permit) throw new Error("the breaker lets nobody through");
  return permit;
}

/** Whether the promise is settled by what has happened so far. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe("a circuit breaker", () => {
  it("opens after a number of consecutive failures", () => {
    const breaker = new Breaker(new FakeClock(), OPTIONS);
    permitOf(breaker).failed();
    permitOf(breaker).failed();
    permitOf(breaker).succeeded();
    permitOf(breaker).failed();
    permitOf(breaker).failed();
    permitOf(breaker).dropped();
    expect(breaker).toMatchObject({ circuit: "closed", failures: 2 });
    permitOf(breaker).failed();
    expect(breaker).toMatchObject({ circuit: "open", failures: 3 });
    expect(breaker.admit()).toBeUndefined();
  });

  it("admits one call at a time when its time is over, and closes if that succeeds", () => {
    const { clock, breaker } = opened();
    expect(breaker.retryAt).toBe(clock.now() + 10_000);
    clock.advance(9_999);
    expect(breaker.admit()).toBeUndefined();
    clock.advance(1);
    expect(breaker.circuit).toBe("half-open");
    const probe = permitOf(breaker);
    expect(breaker.admit()).toBeUndefined();
    probe.dropped();
    permitOf(breaker).succeeded();
    expect(breaker).toMatchObject({ circuit: "closed", failures: 0, since: clock.now() });
  });

  it("stays open for longer after every failed probe, up to a limit, and resets when one succeeds", () => {
    const { clock, breaker } = opened();
    for (const ms of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      expect(breaker.retryAt - clock.now()).toBe(ms);
      clock.advance(ms);
      permitOf(breaker).failed();
    }
    clock.advance(60_000);
    permitOf(breaker).succeeded();
    for (let failure = 0; failure < 3; failure++) permitOf(breaker).failed();
    expect(breaker.retryAt - clock.now()).toBe(10_000);
  });

  it("waits by elapsed time, not by the time of day", () => {
    const { clock, breaker } = opened();
    clock.set(clock.now() + 3_600_000);
    expect(breaker.circuit).toBe("open");
    clock.set(clock.now() - 7_200_000);
    clock.advance(10_000);
    expect(breaker.circuit).toBe("half-open");
  });

  it("ignores the outcome of calls admitted in an earlier state", () => {
    const clock = new FakeClock();
    const breaker = new Breaker(clock, OPTIONS);
    const [slowSuccess, slowFailure] = [permitOf(breaker), permitOf(breaker)];
    for (let failure = 0; failure < 3; failure++) permitOf(breaker).failed();
    slowSuccess.succeeded();
    expect(breaker.circuit).toBe("open");
    clock.advance(10_000);
    slowFailure.failed();
    expect(breaker.circuit).toBe("half-open");
  });

  it("wakes waiters when a call would be admitted", async () => {
    const { clock, breaker } = opened();
    const first = breaker.whenAvailable();
    clock.advance(9_999);
    expect(await isSettled(first)).toBe(false);
    clock.advance(1);
    expect(await isSettled(first)).toBe(true);
    const probe = permitOf(breaker);
    const [second, third] = [breaker.whenAvailable(), breaker.whenAvailable()];
    expect(await isSettled(second)).toBe(false);
    probe.dropped();
    expect(await isSettled(second)).toBe(true);
    expect(await isSettled(third)).toBe(true);
    permitOf(breaker).succeeded();
    expect(await isSettled(breaker.whenAvailable())).toBe(true);
  });

  it("leaves no timer and no waiter when it is closed", async () => {
    const { clock, breaker } = opened();
    const waiting = breaker.whenAvailable();
    breaker.close();
    expect(await isSettled(waiting)).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
