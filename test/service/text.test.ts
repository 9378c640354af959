/** Any text is ordinary input: it comes back as it was given, and is found. */
import type { Json, NewMessage } from "holdfast";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";

const TEXTS: readonly string[] = [
  "",
  " ",
  "plain",
  "👩‍🚀👨‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿🇵🇹",
  "مرحبا بالعالم \u200f\u202eabc\u202c",
  "日本語のテキスト、全角ＡＢＣ",
  "Z̴̡̢̛̫̘̯a̸̛͖l̷̛͔g̷̛o̶",
  "e\u0301 is not é",
  "line\nbreak\r\n\ttab \u0001\u001f\u007f control",
  "'; DROP TABLE item; -- \" ` \\ %_*?",
  "\ufeffBOM and \ufffd and \ufffe",
  "a".repeat(1_000_000),
  "字".repeat(100_000),
];

describe("text", () => {
  it("comes back as it was given, in content, names, metadata and parts", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const messages = TEXTS.map(
      (content, at): NewMessage => ({
        id: `m${at}`,
        role: "user",
        name: content.slice(0, 100),
        content,
        metadata: { [content.slice(0, 50)]: content.slice(0, 1000) },
      }),
    );
    await session.add(messages);
    await memory.close();
    const again = (await open({ path })).session({ user: "ada", session: "s" });
    for (const message of messages) {
      const [item] = await again.get([message.id as string]);
      expect(item).toMatchObject({ content: message.content, name: message.name, metadata: message.metadata });
    }
    expect((await again.query("全角abc"))[0]?.id).toBe("m5");
    expect((await again.query("🇵🇹"))[0]?.id).toBe("m3");
  });

  it("with lone surrogates or NUL is repaired in content and refused in names", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const { ids } = await session.add([
      { role: "user", content: "a\ud800b\u0000c", name: "\udfff", metadata: { "k\u0000": "v\ud800" } },
    ]);
    const [item] = await session.get(ids);
    expect(item).toMatchObject({ content: "a\ufffdb\ufffdc", name: "\ufffd", metadata: { "k\ufffd": "v\ufffd" } });
    for (const name of ["\ud800", "a\u0000b", ""]) {
      expect(() => memory.session({ user: name })).toThrow(expect.objectContaining({ code: "invalid_input" }));
      await expect(session.get([name])).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await session.query("a\ud800")).toBeDefined();
  });

  it("in parts is searched; other parts are kept and described", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    const image = { type: "image", url: "https://example.com/cat.png", description: "a tabby on a sofa" };
    const call = { type: "tool_call", arguments: { nested: [1, { deep: "x" }] } };
    const { ids } = await session.add([
      { role: "assistant", content: [{ type: "text", text: "Look at this" }, image, call] },
    ]);
    const [item] = await session.get(ids);
    expect(item?.parts).toEqual([{ type: "text", text: "Look at this" }, image, call]);
    expect(item?.content).toContain("Look at this");
    expect((await session.query("tabby sofa")).map(({ id }) => id)).toEqual(ids);
  });

  it("over a limit is refused with a hint, and nothing is written", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    let deep: Json = "x";
    for (let level = 0; level < 100; level++) deep = { deep };
    const refused: readonly [NewMessage, string][] = [
      [{ role: "user", content: "x".repeat(9 * 1024 * 1024) }, "too_large"],
      [{ role: "user", content: "x", metadata: { big: "y".repeat(70_000) } }, "too_large"],
      [{ role: "user", content: "x", metadata: deep as { deep: Json } }, "too_large"],
      [{ role: "user", content: "x", metadata: { f: Number.NaN } }, "invalid_input"],
      [{ role: "robot" as "user", content: "x" }, "invalid_input"],
      [{ role: "user", content: 7 as unknown as string }, "invalid_input"],
      [{ role: "user", content: "x", occurredAt: "yesterday" }, "invalid_input"],
      [{ role: "user", content: "x", contents: "y" } as NewMessage, "invalid_input"],
    ];
    for (const [message, code] of refused) {
      const error: unknown = await session
        .add([{ role: "user", content: "good" }, message])
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: expect.stringMatching(/too_large|invalid_input/), hint: expect.any(String) });
      expect((error as Error).message).toContain("messages[1]");
      expect([code, "invalid_input"]).toContain((error as { code: string }).code);
    }
    expect((await memory.stats()).store.items).toBe(0);
  });

  it("of eight megabytes is stored and found", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ role: "user", content: `${"lorem ipsum dolor ".repeat(440_000)} needle` }]);
    expect((await session.query("needle"))[0]?.content.length).toBeGreaterThan(7_900_000);
  });
});
