/**
 * A forget reaches items in progress: if an embedding arrives after its message was deleted, nothing of it stays in
 * memory.
 */
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const said = (content: string) => ({ role: "user" as const, content });
const ADA = { user: "ada", session: "s" };

describe("a vector that arrives too late", () => {
  it("of a message that was deleted while a question had it embedded is not kept", async () => {
    const embedder = new MirrorEmbedder();
    const memory = await open({
      path: ":memory:",
      clock: new FakeClock(),
      embedder,
      buffer: { roundBuffer: { eager: false } },
    });
    const session = memory.session(ADA);
    await session.query("warm up");
    const { ids } = await session.add([said("blue kettle")]);
    const release = embedder.stall();
    const asking = session.query(mirrored("blue kettle"));
    await until(() => embedder.waiting === 2);
    await session.delete(ids);
    release();
    expect(await asking).toHaveLength(0);
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
  });

  it("of a user who was forgotten while his messages were embedded is not kept", async () => {
    const embedder = new MirrorEmbedder();
    const memory = await open({ path: ":memory:", clock: new FakeClock(), embedder });
    const session = memory.session(ADA);
    const release = embedder.stall();
    await session.add([said("blue kettle")]);
    await until(() => embedder.waiting === 1);
    await memory.forget({ user: "ada" });
    await until(() => embedder.waiting === 0); // the call is aborted
    release();
    expect(embedder.texts).toBe(0);
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
    await memory.flush();
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, itemsWritten: 0 });
    expect(await session.query(mirrored("blue kettle"))).toHaveLength(0);
  });

  it("of a message that another process has edited and embedded since hides nothing, and is let go", async () => {
    const path = newPath();
    const common = { path, clock: new FakeClock(), embedder: new MirrorEmbedder() };
    const memory = await open({ ...common, buffer: { roundBuffer: { eager: false } } });
    const other = await open(common);
    const { ids } = await memory
      .session(ADA)
      .add([said("blue kettle"), said("a kettle of another colour, not that one")]);
    await memory.session(ADA).query(mirrored("blue kettle")); // embedded ahead, here
    await other.session(ADA).update(String(ids[0]), { content: "yellow boat" });
    expect(await other.flush()).toEqual({ pending: 0, parked: 0 });
    expect((await memory.session(ADA).query("yellow boat"))[0]?.content).toBe("yellow boat");
    expect((await memory.session(ADA).query(mirrored("yellow boat")))[0]?.content).toBe("yellow boat");
    expect((await memory.session(ADA).query(mirrored("blue kettle")))[0]?.content).not.toBe("yellow boat");
  });
});
