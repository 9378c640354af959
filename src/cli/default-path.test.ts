import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaultPath } from "./default-path.js";

it.each([
  ["linux", {}, join(homedir(), ".local", "share", "holdfast", "memory.db")],
  ["linux", { XDG_DATA_HOME: "/data" }, "/data/holdfast/memory.db"],
  ["linux", { XDG_DATA_HOME: "data" }, join(homedir(), ".local", "share", "holdfast", "memory.db")],
  ["darwin", {}, join(homedir(), "Library", "Application Support", "holdfast", "memory.db")],
  ["win32", { LOCALAPPDATA: "/local" }, join("/local", "holdfast", "memory.db")],
  ["win32", {}, join(homedir(), "AppData", "Local", "holdfast", "memory.db")],
] as const)("on %s with %j it is %s", (platform, env, path) => {
  expect(defaultPath(env, platform)).toBe(path);
});
