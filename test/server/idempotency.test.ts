/** Retries: the same key and body again add nothing, and the status says so. */
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "./parts.js";
import { requestOf } from "./requests.js";
import { type Answer, type Caller, start } from "./started.js";
import { makeWorld, type World } from "./world.js";

let anyone: Caller;
let world: World;

beforeAll(async () => {
  anyone = await start();
  world = await makeWorld(anyone, "ada");
});

const count = async (): Promise<number> => {
  const { items } = await anyone.data<{ items: object[] }>("POST /api/v1/items/list", {
    query: { user: world.user },
    body: { limit: 1000 },
  });
  return items.length;
};

/** Whether an answer, or each part of it, says that it is repeated. */
const repeats = ({ json }: Answer): readonly boolean[] =>
  [json?.data].flat().map((part) => (part as { readonly repeated: boolean }).repeated);

const idempotent = OPERATIONS.filter(({ operation }) => operation.idempotent);

describe.each(idempotent)("$method $path with an Idempotency-Key", (listed) => {
  const send = (key: string, changed?: (text: string) => string) => {
    const { route, sent } = requestOf(listed, world);
    const text = JSON.stringify(sent.body);
    return anyone.send(route, { ...sent, body: changed?.(text) ?? text, headers: { "idempotency-key": key } });
  };

  it("adds once: 201, then 200, and 409 for another body", async () => {
    const key = `once ${listed.name}`;
    const before = await count();
    const first = await send(key);
    expect([first.status, new Set(repeats(first))]).toEqual([201, new Set([false])]);
    const after = await count();
    expect(after).toBeGreaterThan(before);
    for (let time = 0; time < 2; time++) {
      const again = await send(key);
      expect([again.status, new Set(repeats(again))]).toEqual([200, new Set([true])]);
      expect(idsIn(again)).toEqual(idsIn(first));
    }
    const other = await send(key, (text) => text.replace(/plums|figs|Figs|Plums/, "pears"));
    expect([other.status, other.json?.error?.code]).toEqual([409, "conflict"]);
    expect(await count()).toBe(after);
    expect((await send(`another ${listed.name}`)).status).toBe(201);
  });

  it("adds once when ten come at the same time", async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(`race ${listed.name}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map((answer) => JSON.stringify(idsIn(answer)))).size).toBe(1);
    const [winner] = answers.filter(({ status }) => status === 201);
    expect(await count()).toBe(before + idsIn(winner).length);
  });

  it("refuses a key that is none", async () => {
    for (const key of ["", "x".repeat(513)]) expect([413, 422], `${key.length}`).toContain((await send(key)).status);
  });

  it("adds each time without one", async () => {
    const { route, sent } = requestOf(listed, world);
    const before = await count();
    expect((await anyone.send(route, sent)).status).toBe(201);
    expect((await anyone.send(route, sent)).status).toBe(201);
    expect(await count()).toBeGreaterThanOrEqual(before + 2);
  });
});

it("some routes take an Idempotency-Key", () => {
  expect(idempotent.map(({ name }) => name)).toEqual(expect.arrayContaining(["add", "addBatch", "addItems"]));
});

const idsIn = (answer: Answer | undefined): readonly string[] =>
  [answer?.json?.data].flat().flatMap((part) => {
    const { ids, message_ids, knowledge_ids } = part as { readonly [key: string]: readonly string[] | undefined };
    return ids ?? message_ids ?? knowledge_ids ?? [];
  });
