/**
 * A message is deleted or edited at each step of the pipeline. After everything is embedded, written, closed and
 * reopened, the old text is in no level and no table, and no vector was made from it.
 */
import { existsSync, readFileSync } from "node:fs";
import type { BufferService } from "holdfast";
import { afterEach, describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { until } from "../support/until.js";
import { auditVectors, type Strategy } from "../support/vectors.js";
import { type HeldService, openHeld } from "./held-service.js";

const ADA = { user: "ada", session: "s" };
const SECRET = "zqsecretxvk";
const OLD = `the blue ${SECRET} kettle`;
const MESSAGES = ["a green lamp", OLD, "a white chair", "a brown table"].map((content, at) => ({
  role: "user" as const,
  id: `m${at}`,
  content,
}));
/** Nearest to the old text when that is gone. */
const DECOY = { role: "user" as const, id: "decoy", content: "blue kettle? no, another one" };

const services: BufferService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function open(path: string, strategy: Strategy, eager: boolean): Promise<HeldService> {
  const buffer = { roundBuffer: { eager }, hybridBuffer: { chunkStrategy: strategy, maxSize: 1_000 } };
  const opened = await openHeld(path, buffer);
  services.push(opened.service);
  await opened.service.add({ user: "ada", session: "other" }, [DECOY]);
  await opened.service.flush();
  return opened;
}

const itemCount = ({ service }: HeldService) => service.buffers.hybrid?.itemCount;

interface Step {
  readonly name: string;
  readonly eager: boolean;
  /** Adds the messages and brings them to the step; answers with what lets them go on. */
  readonly reach: (opened: HeldService) => Promise<() => unknown>;
}

const STEPS: readonly Step[] = [
  {
    name: "before it is embedded",
    eager: false,
    async reach({ service, embedder }) {
      const release = embedder.stall();
      await service.add(ADA, MESSAGES);
      return release;
    },
  },
  {
    name: "while its batch is embedded",
    eager: true,
    async reach({ service, embedder }) {
      const release = embedder.stall();
      await service.add(ADA, MESSAGES);
      await until(() => embedder.waiting === 1);
      return release;
    },
  },
  {
    name: "while a question has it embedded",
    eager: false,
    async reach({ service, embedder }) {
      await service.add(ADA, MESSAGES);
      const release = embedder.stall();
      const asking = service.query(ADA, "lamp");
      await until(() => embedder.waiting === 2);
      return async () => {
        release();
        await asking;
      };
    },
  },
  {
    name: "when a question has had it embedded",
    eager: false,
    async reach({ service }) {
      await service.add(ADA, MESSAGES);
      await service.query(ADA, "lamp");
      return () => {};
    },
  },
  {
    name: "when it is embedded, before the flush",
    eager: true,
    async reach(opened) {
      await opened.service.add(ADA, MESSAGES);
      await until(() => itemCount(opened) === MESSAGES.length);
      return () => {};
    },
  },
  {
    name: "when its flush is prepared",
    eager: true,
    async reach(opened) {
      await opened.service.add(ADA, MESSAGES);
      await until(() => itemCount(opened) === MESSAGES.length);
      const release = opened.hold();
      const flushed = opened.service.flush();
      await until(() => opened.held() > 0);
      return async () => {
        release();
        await flushed;
      };
    },
  },
  {
    name: "after the flush",
    eager: true,
    async reach({ service }) {
      await service.add(ADA, MESSAGES);
      await service.flush();
      return () => {};
    },
  },
];

const bytesHold = (path: string, text: string): boolean =>
  ["", "-wal", "-shm"].some((suffix) => existsSync(path + suffix) && readFileSync(path + suffix).includes(text));

/** No answer holds the old text; asked for it, the decoy comes first. */
async function expectForgotten(service: BufferService): Promise<void> {
  for (const question of [SECRET, OLD, "blue kettle"]) {
    const hits = await service.query(ADA, question, { topK: 20 });
    expect(hits.map(({ content }) => content).join()).not.toContain(SECRET);
    if (question !== SECRET) expect(hits[0]?.id).toBe("decoy");
  }
}

/** Every item is embedded, and each vector on disk is that of the text which the file has now. */
async function expectSound(path: string, service: BufferService, strategy: Strategy, items: number): Promise<void> {
  expect(await service.flush()).toEqual({ pending: 0, parked: 0 });
  expect(service.buffers.hybrid).toMatchObject({ itemCount: 0, bytes: 0 });
  expect(await auditVectors(path, strategy)).toMatchObject({ items, compared: items, pending: 0, problems: [] });
}

describe.each(["message", "contextual"] as const)("with the strategy %s, a message that is", (strategy) => {
  it.each(STEPS)("deleted $name is nowhere", async ({ eager, reach }) => {
    const path = newPath();
    const opened = await open(path, strategy, eager);
    const resume = await reach(opened);
    const { service } = opened;
    const deleting = service.delete(ADA, ["m1"]);
    await Promise.all([deleting.then(() => resume()), deleting]);
    expect(await deleting).toMatchObject({ items: 1, purged: true });
    await expectForgotten(service);
    await expectSound(path, service, strategy, MESSAGES.length);
    await expectForgotten(service);
    expect(bytesHold(path, SECRET)).toBe(false);
    await service.close();
    expect(bytesHold(path, SECRET)).toBe(false);
    const again = await open(path, strategy, eager);
    await expectForgotten(again.service);
    await expectSound(path, again.service, strategy, MESSAGES.length);
  });

  it.each(STEPS)("edited $name is found by its new text only", async ({ eager, reach }) => {
    const path = newPath();
    const opened = await open(path, strategy, eager);
    const resume = await reach(opened);
    const { service } = opened;
    expect(await service.update(ADA, "m1", { content: "a yellow boat" })).toBe(2);
    await resume();
    const expectEdited = async (one: BufferService) => {
      await expectForgotten(one);
      expect((await one.query(ADA, "yellow boat"))[0]).toMatchObject({
        id: "m1",
        content: "a yellow boat",
        version: 2,
      });
    };
    await expectEdited(service);
    await expectSound(path, service, strategy, MESSAGES.length + 1);
    await expectEdited(service);
    await service.close();
    const again = await open(path, strategy, eager);
    await expectEdited(again.service);
    await expectSound(path, again.service, strategy, MESSAGES.length + 1);
  });
});
