/** Exact identifiers among look-alikes: a question that contains one finds the message with it, in any notation. */
import type { Hits, Memory } from "holdfast";
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";

/** The first of each is asked for and was said by the assistant, the others by the user. */
const FAMILIES: readonly (readonly [kind: string, written: readonly string[], asked: readonly string[]])[] = [
  [
    "phone number",
    ["+49 171 2345678", "0171 2345679", "0171/2345687", "+49 171 2335678", "0049 171 2345778", "0170 2345678"],
    ["+49 171 2345678", "0171/2345678", "(0171) 234 56 78", "0049-171-2345678", "+49 (0)171 2345678", "01712345678"],
  ],
  [
    "order number",
    ["A-1043-77", "A-1043-78", "A-1043-71", "A-1034-77", "B-1043-77", "A-1048-77"],
    ["A-1043-77", "a 1043 77", "#A1043-77", "A104377"],
  ],
  [
    "e-mail",
    ["ada.k@example.com", "adak@example.com", "ada-k@example.com", "ada.b@example.com", "ada.k@example.org"],
    ["ada.k@example.com", "Ada.K@Example.COM", "<ada.k@example.com>", "mailto:ada.k@example.com"],
  ],
  [
    "version",
    ["v1.12.3", "v1.12.4", "1.1.23", "v11.2.3", "v1.12.30", "1.13.3"],
    ["v1.12.3", "1.12.3", "version 1.12.3", "V1.12.3"],
  ],
  [
    "hash",
    ["9f86d081884c7d65", "9f86d081884c7d66", "9f86d081884c7e65", "8f86d081884c7d65", "9f86d081884d7d65"],
    ["9f86d081884c7d65", "9F86D081884C7D65"],
  ],
  [
    "IBAN",
    [
      "DE89 3704 0044 0532 0130 00",
      "DE89 3704 0044 0532 0130 01",
      "DE88 3704 0044 0532 0130 00",
      "DE89370400440533013000",
    ],
    ["DE89370400440532013000", "de89 3704 0044 0532 0130 00", "DE89-3704-0044-0532-0130-00"],
  ],
];

async function filled(embedder?: HashEmbedder): Promise<Memory> {
  const memory = await open({ path: ":memory:", ...(embedder && { embedder }) });
  for (const [kind, written] of FAMILIES) {
    for (const [at, identifier] of written.entries()) {
      // A conversation each: nothing is lent.
      const session = memory.session({ user: "ada", session: `${kind} ${at}` });
      const role = at === 0 ? "assistant" : "user";
      await session.add([{ id: `${kind} ${at}`, role, content: `The ${kind} that she was given is ${identifier}.` }]);
    }
  }
  await memory.flush();
  return memory;
}

const first = (hits: Hits): string | undefined => hits[0]?.id;

describe.each([
  ["by words alone", undefined],
  ["by words and meaning", () => new HashEmbedder()],
] as const)("%s, look-alikes came before", (_, embedder) => {
  it.each(FAMILIES)(
    "the %s that was asked for, alone or in a sentence, in another spelling",
    async (kind, _, asked) => {
      const memory = await filled(embedder?.());
      const session = memory.session({ user: "ada" });
      for (const identifier of asked) {
        expect(first(await session.query(identifier)), identifier).toBe(`${kind} 0`);
        const sentence = `What is known about the ${kind} ${identifier}?`;
        expect(first(await session.query(sentence)), sentence).toBe(`${kind} 0`);
      }
    },
  );
});

it("a hit with the best words and the best meaning came second, because the role bonus outweighed it", async () => {
  const memory = await filled(new HashEmbedder());
  const hits = await memory.session({ user: "ada" }).query("A-1043-77", { explain: true });
  const [best, next] = hits.map(({ why }) => why);
  expect(first(hits)).toBe("order number 0");
  expect(best?.words?.score).toBeGreaterThan(next?.words?.score ?? Infinity);
  expect([best?.role, next?.role]).toEqual([0, 0.3]);
  expect(best?.exact).toBeGreaterThan(0);
  expect(next?.exact).toBe(0);
});

it("a long message that holds it comes before its short neighbours", async () => {
  const memory = await open({ path: ":memory:" });
  const session = memory.session({ user: "ada", session: "s" });
  const long = "and then she went on about the weather, the harbour, the boats, the storm and the old lighthouse. ";
  await session.add([{ id: "before", role: "user", content: "Yes?" }]);
  await session.add([
    { id: "it", role: "assistant", content: `${long.repeat(20)} Order A-1043-77. ${long.repeat(20)}` },
  ]);
  await session.add([{ id: "after", role: "user", content: "Fine." }]);
  expect(first(await session.query("A-1043-77"))).toBe("it");
});

it("an edit, a forget and a filter decide what is exact at once", async () => {
  const memory = await filled(new HashEmbedder());
  const session = memory.session({ user: "ada" });
  const asked = "whose number is 0171 2345678?";
  expect(first(await session.query(asked))).toBe("phone number 0");
  expect((await session.query(asked, { role: "user", explain: true })).every(({ why }) => why?.exact === 0)).toBe(true);
  await session.update("phone number 3", { content: "It is 0171 2345678 now." });
  const both = (await session.query(asked)).slice(0, 2).map(({ id }) => id);
  expect(both.toSorted()).toEqual(["phone number 0", "phone number 3"]);
  await session.delete(["phone number 0"]);
  const [hit] = await session.query(asked, { explain: true });
  expect([hit?.id, Number(hit?.why?.exact) > 0]).toEqual(["phone number 3", true]);
});

it("a question without an identifier adds nothing for one", async () => {
  const memory = await filled(new HashEmbedder());
  const hits = await memory
    .session({ user: "ada" })
    .query("which version was she given in May 2023?", { explain: true });
  expect(hits.length).toBeGreaterThan(0);
  expect(hits.every(({ why }) => why?.exact === 0)).toBe(true);
});
