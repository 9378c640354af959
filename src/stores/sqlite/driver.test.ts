import { describe, expect, it } from "vitest";
import { openDatabase } from "./driver.js";

describe("the driver", () => {
  it("is Node's own where Node has one, else the package", () => {
    const database = openDatabase(":memory:", false);
    const builtIn = process.getBuiltinModule("node:sqlite" as never) as { DatabaseSync: unknown } | undefined;
    const [major = 0] = process.versions.node.split(".").map(Number);
    expect(builtIn !== undefined).toBe(major >= 22);
    expect(database.constructor === builtIn?.DatabaseSync).toBe(builtIn !== undefined);
    expect(database.prepare("SELECT sqlite_version() AS version").get()?.["version"]).toMatch(/^3\./);
    database.close();
  });
});
