import { expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { watchParent } from "./parent.js";

/** Whether the parent was found gone after five checks of a process table that changes after two. */
async function isFoundGone(later: { readonly parent: number; readonly there: boolean }): Promise<boolean> {
  const clock = new FakeClock();
  let looks = 0;
  const processes = {
    parent: () => (++looks > 3 ? later.parent : 7), // the first check is at the start
    isThere: () => (looks > 3 ? later.there : true),
  };
  let gone = false;
  const watch = watchParent(clock, processes);
  void watch.gone.then(() => {
    gone = true;
  });
  clock.advance(4_000);
  await Promise.resolve();
  expect(gone).toBe(false);
  clock.advance(6_000);
  await Promise.resolve();
  watch.cancel();
  return gone;
}

it("a parent is gone when the process has another one", async () => {
  expect(await isFoundGone({ parent: 1, there: true })).toBe(true);
});

it("a parent is gone when no process has its id, as on Windows, where the id stays", async () => {
  expect(await isFoundGone({ parent: 7, there: false })).toBe(true);
});

it("a running parent is detected with any process id", async () => {
  expect(await isFoundGone({ parent: 7, there: true })).toBe(false);
  const clock = new FakeClock();
  let gone = false;
  const watch = watchParent(clock); // the test's own
  void watch.gone.then(() => {
    gone = true;
  });
  clock.advance(10_000);
  await Promise.resolve();
  watch.cancel();
  expect(gone).toBe(false);
});

it("no check is made after a cancel", async () => {
  const clock = new FakeClock();
  let looks = 0;
  const watch = watchParent(clock, { parent: () => ++looks, isThere: () => true });
  watch.cancel();
  clock.advance(10_000);
  await Promise.resolve();
  expect(looks).toBe(1);
});
