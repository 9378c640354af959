import { expect, test } from "vitest";
import { Runs } from "./runs.js";

test("runs so many at a time, and the rest in the order of their coming", async () => {
  const runs = new Runs(2);
  const order: string[] = [];
  const leaves = new Map<string, () => void>();
  const run = async (name: string): Promise<void> => {
    const leave = await runs.enter();
    order.push(name);
    leaves.set(name, leave);
  };
  const all = ["a", "b", "c", "d"].map(run);
  await Promise.all(all.slice(0, 2));
  expect(order).toEqual(["a", "b"]);
  leaves.get("b")?.();
  const late = run("e");
  await all[2];
  expect(order).toEqual(["a", "b", "c"]);
  leaves.get("a")?.();
  leaves.get("c")?.();
  await Promise.all(all);
  leaves.get("d")?.();
  await late;
  expect(order).toEqual(["a", "b", "c", "d", "e"]);
});
