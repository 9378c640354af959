/** A process with a context engine on a buffer's file. Its parent is the backend: it gets every delivery as a report. */
import {
  type BufferStore,
  type ContextoBackend,
  DefaultContextEngine,
  type Episode,
  SlidingWindowEngine,
  SqliteBufferStore,
} from "holdfast/buffer-store";
import { onOrder, report } from "../../support/child.js";
import { Random } from "../../support/random.js";
import { type Arrival, type EngineOrder, type EngineReport, textOf } from "./engine-protocol.js";

interface Turn {
  readonly number: number;
  readonly text: string;
}

const TOKENS = { budget: 400, most: 800 };

const say = (what: EngineReport): void => report(what);
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const [, , path = "", kind = "default"] = process.argv;
const buffer: BufferStore = new SqliteBufferStore(path, { session: "monday", busyTimeoutMs: 30_000 });
let confirm: () => void = () => undefined;
let found: readonly number[] = [];
const backend: ContextoBackend<Turn> = {
  async ingest(episodes) {
    say({ say: "ingested", episodes: episodes.map(arrivalOf) });
    await new Promise<void>((resolve) => {
      confirm = resolve;
    });
  },
  async search() {
    return found.map((item) => ({ id: `item-${item}`, content: `<${item}>` }));
  },
};
const engine =
  kind === "default" ? new DefaultContextEngine({ buffer, backend }) : new SlidingWindowEngine({ buffer, backend });

function arrivalOf({ id, data }: Episode<Turn>): Arrival {
  const [turn] = data.messages;
  return { id, number: turn?.number ?? 0, text: turn?.text ?? "" };
}

async function work({ from, seed, pool }: EngineOrder & { do: "work" }): Promise<void> {
  const random = new Random(seed);
  for (let number = from; ; number++) {
    say({ say: "adding", number });
    await engine.afterTurn({ messages: [{ number, text: textOf(number) }] });
    say({ say: "added", number });
    if (random.chance(0.5)) {
      found = Array.from({ length: 5 }, () => random.between(0, pool));
      const { messages } = await engine.assemble({ messages: [], prompt: "what?", tokenBudget: TOKENS.budget });
      const items = [...JSON.stringify(messages).matchAll(/<(\d+)>/g)].map(([, item]) => Number(item));
      say({ say: "injected", items });
    }
    if (random.chance(0.2)) {
      const currentTokenCount = random.between(0, TOKENS.most);
      const compaction = engine.compact({ tokenBudget: TOKENS.budget, currentTokenCount, force: random.chance(0.2) });
      if (random.chance(0.5)) await later();
      say({ say: "adding", number: ++number });
      await engine.afterTurn({ messages: [{ number, text: textOf(number) }] });
      say({ say: "added", number });
      await compaction;
      say({ say: "delivered" });
    }
  }
}

onOrder<EngineOrder>(async (order) => {
  if (order.do === "work") return work(order);
  if (order.do === "confirm") return confirm();
  await engine.dispose();
  say({ say: "delivered" });
  buffer.close();
  say({ say: "finished" });
  process.disconnect();
});
say({
  say: "open",
  numbers: buffer.getAll().map(({ payload }) => (payload.data.messages[0] as unknown as Turn).number),
});
