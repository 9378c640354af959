/** A process that works on a buffer's file: it says what it is about to call, calls, and says what came of it. */
import { type LeasedEntry, SqliteBufferStore, systemClock } from "holdfast/buffer-store";
import { onOrder, report } from "../support/child.js";
import { Random } from "../support/random.js";
import { type Call, type Found, type Order, payloadOf, type Report } from "./protocol.js";

type Payload = ReturnType<typeof payloadOf>;

const [, , path = "", aheadMs = "0"] = process.argv;
/** A clock that is ahead: the leases of those who were killed have ended. */
const clock = { ...systemClock, now: () => Date.now() + Number(aheadMs) };
const store = new SqliteBufferStore<Payload>(path, { clock, busyTimeoutMs: 30_000 });
/** What this process has leased last, by number. */
const held = new Map<number, LeasedEntry<Payload>>();

const say = (what: Report): void => report(what);

function look(ids: readonly number[]): Found {
  const entries = store.getAll().map(({ rowid, payload, attempts }) => {
    const isWhole = payload.text === payloadOf(payload.number).text;
    return { rowid, number: payload.number, attempts, isWhole };
  });
  return { entries, injected: ids.filter((number) => store.hasInjectedId(`id-${number}`)) };
}

function perform(call: Call, leaseMs: number): void {
  say({ say: "begin", call });
  say({ say: "done", numbers: answer(call, leaseMs) });
}

/** The numbers of the entries that the call was about, as far as it has done what it should. */
function answer(call: Call, leaseMs: number): readonly number[] {
  switch (call.kind) {
    case "push":
      store.push(payloadOf(call.number), `session ${call.number % 3}`, "key");
      return [call.number];
    case "inject":
      store.addInjectedId(`id-${call.number}`);
      return [call.number];
    case "lease": {
      const leased = store.lease({ limit: 4, leaseMs });
      for (const entry of leased) held.set(entry.payload.number, entry);
      return leased.map(({ payload }) => payload.number);
    }
    case "acknowledge":
    case "release": {
      const leases = call.numbers.flatMap((number) => held.get(number) ?? []);
      for (const number of call.numbers) held.delete(number);
      const ended = store[call.kind](leases);
      return ended === call.numbers.length ? call.numbers : [];
    }
  }
}

function choose(random: Random, number: number): Call {
  const kind = random.weighted<Call["kind"]>({ push: 5, inject: 2, lease: 2, acknowledge: 2, release: 1 });
  if (kind === "push" || kind === "inject") return { kind, number };
  if (kind === "lease" || held.size === 0) return { kind: "lease" };
  return { kind, numbers: [...held.keys()].filter(() => random.chance(0.6)) };
}

/** Orders are heard between calls only. */
function work(order: Order & { do: "work" }): void {
  const random = new Random(order.seed);
  const { from, leaseMs, calls = Number.POSITIVE_INFINITY } = order;
  for (let at = 0; at < calls; at++) perform(choose(random, from + at), leaseMs);
  say({ say: "idle" });
}

function drain(): void {
  const leaseMs = 60_000;
  if (held.size > 0) perform({ kind: "acknowledge", numbers: [...held.keys()] }, leaseMs);
  for (perform({ kind: "lease" }, leaseMs); held.size > 0; perform({ kind: "lease" }, leaseMs)) {
    perform({ kind: "acknowledge", numbers: [...held.keys()] }, leaseMs);
  }
  say({ say: "idle" });
}

onOrder<Order>((order) => {
  if (order.do === "look") say({ say: "found", found: look(order.ids) });
  if (order.do === "work") work(order);
  if (order.do === "drain") drain();
  if (order.do === "close") {
    store.close();
    process.disconnect();
  }
});
say({ say: "open" });
