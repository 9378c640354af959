/** The unit tests of engram's reference implementation, by name, on blocks in a file and in memory. */
import { describe, expect, it } from "vitest";
import { sessionsAt } from "./stores.js";

describe("the seed's blocks", () => {
  const newSession = sessionsAt(":memory:");

  it("test_create_and_get_block: creates a block and gets it", async () => {
    const blocks = newSession().blocks;
    const block = await blocks.create({ name: "persona", content: "I am a helpful assistant.", maxTokens: 512 });
    expect(block.name).toBe("persona");
    expect(block.content).toBe("I am a helpful assistant.");
    expect(block.version).toBe(1);
    expect(block.maxTokens).toBe(512);

    const fetched = await blocks.get("persona");
    expect(fetched?.name).toBe(block.name);
    expect(fetched?.content).toBe(block.content);
    expect(fetched).toEqual(block);
  });

  it("test_update_increments_version: each update makes the next version", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "notes", content: "initial", maxTokens: 256 });
    const v2 = await blocks.edit("notes", { content: "updated once", reason: "first edit" });
    expect(v2.version).toBe(2);
    const v3 = await blocks.edit("notes", { content: "updated twice", reason: "second edit" });
    expect(v3.version).toBe(3);
  });

  it("test_update_logs_edit_history: an update is logged with old, new and reason", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "context", content: "old text", maxTokens: 256 });
    await blocks.edit("context", { content: "new text", reason: "test reason" });
    const history = await blocks.history("context", { limit: 0 });
    expect(history).toHaveLength(1);
    expect(history[0]?.old).toBe("old text");
    expect(history[0]?.new).toBe("new text");
    expect(history[0]?.reason).toBe("test reason");
  });

  it("test_list_blocks_returns_all: lists all, by name", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "gamma", content: "c", maxTokens: 128 });
    await blocks.create({ name: "alpha", content: "a", maxTokens: 128 });
    await blocks.create({ name: "beta", content: "b", maxTokens: 128 });
    const listed = await blocks.list();
    expect(listed).toHaveLength(3);
    expect(listed.map(({ name }) => name)).toEqual(["alpha", "beta", "gamma"]);
  });

  it("test_delete_block: a deleted block is gone", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "temp", content: "to be deleted", maxTokens: 64 });
    await blocks.delete("temp");
    expect(await blocks.get("temp")).toBeUndefined();
  });

  it("test_get_history_with_limit: the newest edits first, up to the limit", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "v1", maxTokens: 256 });
    await blocks.edit("log", { content: "v2", reason: "edit 1" });
    await blocks.edit("log", { content: "v3", reason: "edit 2" });
    await blocks.edit("log", { content: "v4", reason: "edit 3" });
    const limited = await blocks.history("log", { limit: 2 });
    expect(limited).toHaveLength(2);
    expect(limited[0]?.new).toBe("v4");
    expect(limited[1]?.new).toBe("v3");
  });

  it("test_archive_overflow_truncates_and_returns_excess: two tokens keep eight characters", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "small", content: "12345678overflow_part", maxTokens: 2 });
    const overflow = await blocks.archiveOverflow("small");
    expect(overflow).toBeDefined();
    expect(overflow?.archived?.text).toBe("overflow_part");
    const block = await blocks.get("small");
    expect(block?.content).toBe("12345678");
    // The reference implementation logs this edit too, with this reason.
    expect((await blocks.history("small"))[0]).toMatchObject({ new: "12345678", reason: "overflow archived" });
  });

  it("test_archive_non_overflowing_returns_none: what fits stays as it is", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "roomy", content: "short", maxTokens: 1024 });
    expect(await blocks.archiveOverflow("roomy")).toBeUndefined();
    const block = await blocks.get("roomy");
    expect(block?.content).toBe("short");
    expect(block?.version).toBe(1);
  });

  it("test_get_nonexistent_returns_none: a block that was never made is undefined", async () => {
    const blocks = newSession().blocks;
    expect(await blocks.get("does_not_exist")).toBeUndefined();
  });

  it("test_delete_nonexistent_returns_error: deleting what is not there is an error", async () => {
    const blocks = newSession().blocks;
    await expect(blocks.delete("ghost")).rejects.toMatchObject({ code: "not_found" });
  });

  it("test_update_nonexistent_returns_error: editing what is not there is an error", async () => {
    const blocks = newSession().blocks;
    const edit = blocks.edit("ghost", { content: "content", reason: "reason" });
    await expect(edit).rejects.toMatchObject({ code: "not_found" });
    expect(await blocks.list()).toEqual([]);
  });

  it("test_create_empty_name_returns_error: a block needs a name", async () => {
    const blocks = newSession().blocks;
    const create = blocks.create({ name: "", content: "content", maxTokens: 256 });
    await expect(create).rejects.toMatchObject({ code: "invalid_input", details: { field: "block.name" } });
    expect(await blocks.list()).toEqual([]);
  });
});
