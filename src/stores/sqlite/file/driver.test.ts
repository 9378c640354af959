import { describe, expect, it } from "vitest";
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
