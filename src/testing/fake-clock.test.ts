import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.js";

describe("FakeClock", () => {
  it("stands still until it is advanced or set", () => {
    const clock = new FakeClock(1000);
    expect(clock.now()).toBe(1000);
    clock.advance(5);
    clock.advance(0);
    expect(clock.now()).toBe(1005);
    clock.set(400);
    expect(clock.now()).toBe(400);
    clock.advance(1);
    expect(clock.now()).toBe(401);
  });

  it("runs tasks when they are due, each at its own time, equal ones in order of creation", () => {
    const clock = new FakeClock(0);
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name}@${clock.now()}`);
    clock.after(30, note("c"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.after(31, note("late"));
    clock.advance(9);
    expect(ran).toEqual([]);
    clock.advance(21);
    expect(ran).toEqual(["a@10", "b@10", "c@30"]);
    expect(clock.pending).toBe(1);
    clock.advance(100);
    expect(ran).toEqual(["a@10", "b@10", "c@30", "late@31"]);
    expect(clock.now()).toBe(130);
    expect(clock.pending).toBe(0);
  });

  it("never runs a task inside after, not even one that is due at once", () => {
    const clock = new FakeClock(0);
    let ran = 0;
    clock.after(0, () => ran++);
    clock.after(-5, () => ran++);
    expect(ran).toBe(0);
    clock.advance(0);
    expect(ran).toBe(2);
  });

  it("runs a task that another task starts, if it becomes due meanwhile", () => {
    const clock = new FakeClock(0);
    const ran: number[] = [];
    const again = () => {
      ran.push(clock.now());
      clock.after(10, again);
    };
    clock.after(10, again);
    clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
    expect(clock.pending).toBe(1);
  });

  it("does not run a cancelled task, even one cancelled by a task before it", () => {
    const clock = new FakeClock(0);
    const ran: string[] = [];
    const cancel = clock.after(10, () => ran.push("cancelled"));
    cancel();
    cancel();
    const cancelLater = clock.after(20, () => ran.push("cancelled later"));
    clock.after(15, cancelLater);
    clock.advance(100);
    expect(ran).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("does not affect timers when the time of day is set", () => {
    const clock = new FakeClock(1_000_000);
    const ran: number[] = [];
    clock.after(100, () => ran.push(clock.now()));
    clock.set(0);
    clock.advance(99);
    expect(ran).toEqual([]);
    clock.set(5_000_000);
    expect(ran).toEqual([]);
    clock.advance(1);
    expect(ran).toEqual([5_000_001]);
  });

  it("does not advance backwards", () => {
    const clock = new FakeClock(0);
    expect(() => clock.advance(-1)).toThrow(RangeError);
    expect(() => clock.advance(Number.NaN)).toThrow(RangeError);
    expect(clock.now()).toBe(0);
  });
});
