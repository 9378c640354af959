/**
 * A server is killed under load, again and again. Every add that was answered is there, and every add that a client
 * repeated until it was answered is there once, in the client's order.
 *
 * HOLDFAST_TEST_KILLS says how often, as in crash.test.ts; a quarter of that here.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";

const kills = Math.ceil(Number(process.env["HOLDFAST_TEST_KILLS"] ?? 6) / 4);
const CLIENTS = 8;
/** So many adds are answered between two kills at least, and fewer than twice as many. */
const ANSWERS = 40;

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
}

/** A server on a port of its own: the one that was killed before it may have lost its port to another program. */
async function start(path: string): Promise<Served> {
  const child = fork(fileURLToPath(new URL("./served.js", import.meta.url)), [path]);
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

async function kill({ child }: Served): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Adds one message after the other to a session of its own; repeats each with the same key until it is answered. */
class Client {
  readonly session: string;
  /** The ids that were answered, in order. */
  readonly answered: string[] = [];
  repeats = 0;
  readonly #served: () => Promise<Served>;
  readonly #onAnswer: () => void;

  /** `served` resolves when there is a server. */
  constructor(number: number, served: () => Promise<Served>, onAnswer: () => void) {
    this.session = `client ${number}`;
    this.#served = served;
    this.#onAnswer = onAnswer;
  }

  async run(isOver: () => boolean): Promise<void> {
    for (let number = 0; !isOver(); number++) {
      this.answered.push(await this.#add(number));
      this.#onAnswer();
    }
  }

  async #add(number: number): Promise<string> {
    for (;;) {
      const answer = await this.#try(number);
      if (answer) {
        expect([200, 201]).toContain(answer.status);
        return answer.id;
      }
      this.repeats++;
    }
  }

  /** Undefined if no answer came: the server is not there, or was killed while it answered. */
  async #try(number: number): Promise<{ readonly status: number; readonly id: string } | undefined> {
    const { url } = await this.#served();
    try {
      const response = await fetch(`${url}/api/v1/messages?user=ada&session=${encodeURIComponent(this.session)}`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": `${this.session} ${number}` },
        body: JSON.stringify({ messages: [{ role: "user", content: `${this.session}, message ${number}` }] }),
      });
      const { data } = (await response.json()) as { data: { ids: string[] } | null };
      return { status: response.status, id: data?.ids[0] ?? "" };
    } catch {
      return undefined;
    }
  }
}

it("keeps every add that a server answered before it was killed, once, also if the client repeated it", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const random = new Random(testSeed("server"));
    let served = start(path);
    let answers = 0;
    let isOver = false;
    let wake = (): void => {};
    const onAnswer = (): void => {
      answers++;
      wake();
    };
    const clients = Array.from({ length: CLIENTS }, (_, number) => new Client(number, () => served, onAnswer));
    const running = clients.map((client) => client.run(() => isOver));
    const answered = async (count: number): Promise<void> => {
      while (answers < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    for (let life = 0; life < kills; life++) {
      await answered(answers + random.between(ANSWERS, 2 * ANSWERS));
      const killed = kill(await served);
      served = killed.then(() => start(path));
    }
    await answered(answers + ANSWERS);
    isOver = true;
    await Promise.all(running);
    await kill(await served);

    const repeats = clients.reduce((sum, client) => sum + client.repeats, 0);
    console.log(`server: kills ${kills + 1} · acknowledged ${answers} · repeated after no answer ${repeats}`);
    expect(repeats).toBeGreaterThan(0);
    const memory = await openMemory({ path });
    for (const client of clients) {
      const session = memory.session({ user: "ada", session: client.session });
      const { items } = await session.list({ limit: 1000, order: "asc" });
      expect(items.map(({ id }) => id)).toEqual(client.answered);
      expect(items.map(({ content }) => content)).toEqual(
        client.answered.map((_, number) => `${client.session}, message ${number}`),
      );
      expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, at) => at + 1));
    }
    await memory.close();
  });
});
