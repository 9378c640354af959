/** Any text is returned unchanged, as content, name, id, metadata and names of the registry. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { ADA } from "./probe.js";

const TEXTS: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["a blank", " "],
  ["line breaks and tabs", "one\r\ntwo\n\n\tthree\u2028four"],
  ["an emoji of several code points", "family 👩‍👩‍👧‍👦, flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿, thumb 👍🏽"],
  ["right to left", "שלום עולם \u202Eاليمين إلى اليسار\u202C end"],
  ["Chinese, Japanese and Korean", "我搬到了里斯本。東京へ引っ越した。서울에 살아요"],
  ["Thai and Hindi", "ฉันย้ายไปลิสบอน मैं लिस्बन चला गया"],
  ["combining marks", "Zoe\u0308 cafe\u0301 Z\u0351\u036B\u0343a\u0334\u0321lgo\u0330\u0300"],
  ["composed letters", "Zoë café"],
  ["the replacement character", "broken \uFFFD here \uFFFD\uFFFD"],
  ["letters beyond the basic plane", "𝓛𝓲𝓼𝓫𝓸𝓷 𐍈 𠮷野家"],
  ["zero-width and invisible ones", "a\u200Bb\u200Dc\uFEFFd\u00ADe\u2060f"],
  ["quotes, marks and escapes", `'"\`\\ %_* ; -- /* $1 ? :a @b {"json": [1]} <b>&amp;</b> \\u0041`],
  ["control characters", "bell\u0007 escape\u001B[31m delete\u007F"],
  ["non-characters", "\uFFFE \uFFFF \u{10FFFF}"],
];

export function unicode(check: Check): void {
  for (const [what, text] of TEXTS) {
    check(`keeps ${what}`, async (probe) => {
      const metadata = { [text]: text, list: [text] };
      const parts = [
        { type: "text", text },
        { type: "image", description: text, [`key ${text}`]: text },
      ];
      await probe.add(ADA, [{ id: "x", content: text, name: text, metadata, parts }]);
      await probe.add(ADA, [{ id: "other", content: "something else" }]);
      expect(await probe.item(ADA, "x")).toMatchObject({ content: text, name: text, metadata, parts });
      const filter = { metadata: [{ path: [text], anyOf: [text] }] };
      expect(await probe.ids(ADA, { filter })).toEqual(["x"]);
      const terms = probe.terms(text);
      expect(await probe.found(ADA, text)).toEqual(terms.length > 0 ? ["x"] : []);
      await probe.update(ADA, "other", { content: text, name: text, metadata, parts });
      expect(await probe.item(ADA, "other")).toMatchObject({ content: text, name: text, metadata, parts });
    });

    if (text === "") continue;
    check(`keeps ${what} in ids and names`, async (probe) => {
      const space = { user: text };
      const options = { session: text, agent: text, idempotency: { key: text, hash: text } };
      await probe.add(space, [{ id: text, content: "lamp" }], options);
      expect(await probe.add(space, [{ id: text, content: "lamp" }], options)).toMatchObject({
        ids: [text],
        repeated: true,
      });
      expect(await probe.item(space, text)).toMatchObject({ id: text, space, session: text, agent: text });
      expect(await probe.search(space, "lamp")).toMatchObject([{ id: text, space }]);
      expect(await probe.ids(space, { filter: { sessions: [text], agents: [text] } })).toEqual([text]);
      expect((await probe.store.entries({ kind: "user", name: text, limit: 2 })).items).toMatchObject([{ name: text }]);
      expect(await probe.sessionNames(space)).toEqual([text]);
      await probe.amend({ kind: "session", name: text, space }, { name: `${text}!` });
      await probe.amend({ kind: "user", name: text }, { name: `${text}!`, description: text });
      const [entry] = (await probe.store.entries({ kind: "user", name: `${text}!`, limit: 2 })).items;
      expect(entry).toMatchObject({ name: `${text}!`, description: text });
      await probe.forget({ space: { user: `${text}!` }, session: `${text}!`, entry: true });
      expect(await probe.list({ user: `${text}!` })).toEqual([]);
    });
  }

  check("distinguishes names and ids that only look alike", async (probe) => {
    const names = ["é", "e\u0301", "É", "é ", "\u200Bé", "ｅ", "e"];
    for (const name of names) {
      expect(await probe.add({ user: name }, [{ id: name }], { session: name })).toMatchObject({ sequences: [1] });
      expect(await probe.add(ADA, [{ id: name }], { session: name })).toMatchObject({ sequences: [1] });
    }
    expect(await probe.list(ADA)).toHaveLength(names.length);
    expect(await probe.sessionNames(ADA)).toEqual(names.toSorted());
    expect(await probe.names("user")).toEqual([...names, "ada"].toSorted());
    for (const name of names) expect(await probe.ids(ADA, { filter: { sessions: [name] } })).toEqual([name]);
  });

  check("keeps and finds a megabyte of text", async (probe) => {
    const line = "The quick brown fox jumps over the lazy dog — 速い茶色の狐 🦊. ";
    const filler = line.repeat(Math.ceil(500_000 / line.length));
    const content = `${filler} zeppelin ${filler}`;
    expect(Buffer.byteLength(content)).toBeGreaterThan(1_000_000);
    await probe.add(ADA, [
      { id: "big", content },
      { id: "small", content: "a fox" },
    ]);
    expect((await probe.item(ADA, "big")).content === content).toBe(true);
    expect(await probe.found(ADA, "zeppelin")).toEqual(["big"]);
    expect((await probe.found(ADA, "fox")).toSorted()).toEqual(["big", "small"]);
    await probe.forget({ space: ADA, ids: ["big"] });
    expect(await probe.found(ADA, "zeppelin fox")).toEqual(["small"]);
  });

  check("keeps empty content: listed and read, found by no word", async (probe) => {
    await probe.add(ADA, [{ id: "empty", content: "" }], { session: "s" });
    await probe.add(ADA, [{ id: "other", content: "lamp" }], { session: "t" });
    expect(await probe.item(ADA, "empty")).toMatchObject({ content: "", sequence: 1 });
    expect(await probe.ids(ADA)).toEqual(["empty", "other"]);
    expect(await probe.found(ADA, "lamp")).toEqual(["other"]);
  });
}
