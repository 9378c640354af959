import { readlinkSync } from "node:fs";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryManager } from "./compat/agent-teams/memory-manager.js";
import { ConversationMemory } from "./conversation/conversation-memory.js";
import { makeFolder } from "./folder.js";

let root: string;
let synced: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-folder-"));
  synced = [];
  const handle = await open(root);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, "sync").mockImplementation(function (this: typeof handle) {
    synced.push(relative(root, readlinkSync(`/proc/self/fd/${this.fd}`)));
    return sync.call(this);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true });
});

// Synced folders are observed through descriptors, which only Linux shows. `npm run test:power` tests the losses
// themselves.
describe.runIf(process.platform === "linux")("a folder whose name a power cut could take back", () => {
  it("is synced in its parent, and so is each missing folder", async () => {
    await makeFolder(join(root, "a", "b", "c"), 0o700);
    expect(synced.sort()).toEqual(["", "a", join("a", "b")]);
    synced = [];
    await makeFolder(join(root, "a", "b", "c"), 0o700);
    expect(synced).toEqual([]);
  });

  it("is synced before the first save of a team memory into it returns, whoever created it", async () => {
    const manager = new MemoryManager(join(root, "a", "b"));
    await manager.save("team", "ada", new ConversationMemory());
    for (const folder of ["", "a", "a/b", "a/b/team"]) expect(synced).toContain(folder);
    synced = [];
    await mkdir(join(root, "a", "b", "others", "memory"), { recursive: true });
    await manager.save("others", "ada", new ConversationMemory());
    for (const folder of ["a/b", "a/b/others"]) expect(synced).toContain(folder);
  });
});
