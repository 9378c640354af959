/** A process that works on a buffer's file: it reports each call before it is made, and its result. */
import { SqliteBufferStore, systemClock } from "holdfast/buffer-store";
import { onOrder } from "../../support/child.js";
import { Random } from "../../support/random.js";
import { BufferCalls, look, type Payload, say } from "./buffer-calls.js";
import type { Order } from "./protocol.js";

const [, , path = "", aheadMs = "0"] = process.argv;
/** A clock that is ahead: the leases of killed processes have ended. */
const clock = { ...systemClock, now: () => Date.now() + Number(aheadMs) };
const store = new SqliteBufferStore<Payload>(path, { clock, busyTimeoutMs: 30_000 });
const buffer = new BufferCalls(store);

/** Orders are read only between calls. */
function work(order: Order & { do: "work" }): void {
  const random = new Random(order.seed);
  const { from, leaseMs, calls = Number.POSITIVE_INFINITY } = order;
  for (let at = 0; at < calls; at++) buffer.make(buffer.choose(random, from + at), leaseMs);
  say({ say: "idle" });
}

function drain(): void {
  const leaseMs = 60_000;
  if (buffer.held.length > 0) buffer.make({ kind: "acknowledge", numbers: buffer.held }, leaseMs);
  for (buffer.make({ kind: "lease" }, leaseMs); buffer.held.length > 0; buffer.make({ kind: "lease" }, leaseMs)) {
    buffer.make({ kind: "acknowledge", numbers: buffer.held }, leaseMs);
  }
  say({ say: "idle" });
}

onOrder<Order>((order) => {
  if (order.do === "look") say({ say: "found", found: look(store, order.ids) });
  if (order.do === "work") work(order);
  if (order.do === "drain") drain();
  if (order.do === "close") {
    store.close();
    process.disconnect();
  }
});
say({ say: "open" });
