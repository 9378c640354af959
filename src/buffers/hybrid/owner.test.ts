import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isGone, newOwner } from "./owner.js";

describe("a process that embeds", () => {
  it("is not gone as long as it lives", () => {
    expect(isGone(newOwner(0).process)).toBe(false);
  });

  it("is gone when its process has ended", async () => {
    const child = spawn("true");
    const name = newOwner(0).process.replace(` ${process.pid} `, ` ${child.pid} `);
    await once(child, "exit");
    expect(isGone(name)).toBe(true);
  });

  it("is gone when another process has its id", () => {
    const [, start = ""] = / (\d*)$/.exec(newOwner(0).process) ?? [];
    if (start === "") return; // this system does not tell when a process began
    expect(isGone(newOwner(0).process.replace(/\d+$/, String(Number(start) + 1)))).toBe(true);
  });

  it("of another host or of no known form cannot be known to be gone", () => {
    expect(isGone("elsewhere - - 1 1")).toBe(false);
    expect(isGone("nonsense")).toBe(false);
    expect(isGone("")).toBe(false);
  });

  it("has an id of its own for each memory that it opens", () => {
    expect(newOwner(0).id).not.toBe(newOwner(0).id);
  });
});
