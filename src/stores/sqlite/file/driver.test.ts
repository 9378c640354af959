import { afterEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "./driver.js";

describe("the driver", () => {
  it("is Node's own where that has all that is used, else the package", () => {
    const database = openDatabase(":memory:", false);
    const builtIn = process.getBuiltinModule("node:sqlite" as never) as { DatabaseSync: unknown } | undefined;
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const isComplete = major > 22 || (major === 22 && minor >= 16);
    expect(database.constructor === builtIn?.DatabaseSync).toBe(isComplete);
    expect(database.prepare("SELECT sqlite_version() AS version").get()?.["version"]).toMatch(/^3\./);
    database.close();
  });
});

const { getBuiltinModule } = process;
afterEach(() => {
  process.getBuiltinModule = getBuiltinModule;
  vi.restoreAllMocks();
});

it("Node 22's warning that SQLite is experimental is not printed, and other warnings are", async () => {
  const shown: unknown[] = [];
  const emitWarning = vi
    .spyOn(process, "emitWarning")
    .mockImplementation((...args: unknown[]) => void shown.push(args));
  let loads = 0;
  process.getBuiltinModule = ((name: string) => {
    if (name === "node:sqlite") {
      loads++;
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      process.emitWarning("Another feature is experimental", "ExperimentalWarning");
      process.emitWarning("SQLite is old", "DeprecationWarning");
    }
    return getBuiltinModule(name as "node:fs");
  }) as typeof getBuiltinModule;
  vi.resetModules();
  const { openDatabase } = await import("./driver.js");
  openDatabase(":memory:", false).close();
  expect(loads).toBe(1);
  expect(shown).toEqual([
    ["Another feature is experimental", "ExperimentalWarning"],
    ["SQLite is old", "DeprecationWarning"],
  ]);
  expect(process.emitWarning).toBe(emitWarning);
});
