import { describe, expect, it } from "vitest";
import { findDisk, findPlace } from "./file.js";

describe("where a file lies", () => {
  it("is wrong on a network file system, and right on a local disk", () => {
    expect(findPlace(0x6969)).toMatchObject({ state: "error", what: expect.stringContaining("NFS") });
    expect(findPlace(0xef53).state).toBe("ok");
  });

  it("has room for a rewrite of the file, or is reported as short of it", () => {
    expect(findDisk(10_000_000_000, 1_000_000_000)).toEqual({ state: "ok", what: "10 GB free" });
    expect(findDisk(1_000_000_000, 990_000_000)).toMatchObject({
      state: "warning",
      what: "1.0 GB free on the disk; the file takes 990 MB",
    });
  });
});
