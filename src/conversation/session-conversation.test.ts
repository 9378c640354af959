import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import type { ListOptions } from "../input/list.js";
import { FakeClock } from "../testing/fake-clock.js";
import type { Added, Item, NewMessage, Page } from "../types.js";
import { type ConversationStore, SessionConversation } from "./session-conversation.js";
import type { Speaker } from "./turn-record.js";

/** A minimal store. Adds wait for `open`, so that a test can check the state in between. */
class SmallStore implements ConversationStore {
  readonly items: Item[] = [];
  readonly asked: (ListOptions | undefined)[] = [];
  /** What the next adds wait for, and fail with. */
  gate: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  /** The largest page it returns. */
  pageMax = 1000;

  async add(messages: readonly NewMessage[]): Promise<Added> {
    await this.gate;
    if (this.failure) throw this.failure;
    const first = this.items.length + 1;
    for (const { role, content, occurredAt } of messages) {
      this.items.push(itemOf(this.items.length + 1, role, content as string, occurredAt as number));
    }
    const sequences = messages.map((_, at) => first + at);
    return { ids: sequences.map(String), sequences, repeated: false };
  }

  async list(options: ListOptions = {}): Promise<Page<Item>> {
    this.asked.push(options);
    const { limit = 20, cursor = "0", role } = options;
    const from = Number(cursor);
    const size = Math.min(limit, this.pageMax);
    const wanted = this.items.filter((item) => (role as readonly string[]).includes(item.role ?? "")).reverse();
    const items = wanted.slice(from, from + size);
    return { items, ...(from + size < wanted.length && { next: String(from + size) }) };
  }
}

function itemOf(sequence: number, role: NewMessage["role"], content: string, occurredAt: number): Item {
  return {
    id: String(sequence),
    kind: "message",
    space: { user: "ada" },
    session: "monday",
    sequence,
    role,
    content,
    metadata: {},
    tier: "episodic",
    occurredAt,
    recordedAt: occurredAt,
    updatedAt: occurredAt,
    version: 1,
  };
}

const contentsOf = ({ turns }: SessionConversation): readonly string[] => turns.map(({ content }) => content);

describe("a conversation on a store", () => {
  it("starts with the newest turns of user and assistant, in order", async () => {
    const store = new SmallStore();
    const roles = ["user", "assistant", "system", "tool"] as const;
    for (let at = 1; at <= 12; at++) store.items.push(itemOf(at, roles[at % 4] ?? "user", `turn ${at}`, at));
    const conversation = await SessionConversation.open(store, { maxTurns: 3 });
    expect(conversation.formatContext()).toBe(
      "[Conversation Context]\nUser: turn 8\nAssistant: turn 9\nUser: turn 12\n",
    );
    expect(conversation.turns.map(({ timestamp }) => timestamp)).toEqual([8, 9, 12]);
    expect(store.asked).toEqual([{ kind: "message", role: ["user", "assistant"], limit: 3 }]);
  });

  it("reads as many pages as it needs, and none if it keeps no turns", async () => {
    const store = new SmallStore();
    store.pageMax = 2;
    for (let at = 1; at <= 9; at++) store.items.push(itemOf(at, "user", String(at), at));
    const conversation = await SessionConversation.open(store, { maxTurns: 5 });
    expect(contentsOf(conversation)).toEqual(["5", "6", "7", "8", "9"]);
    expect(store.asked.map((options) => options?.limit)).toEqual([5, 3, 1]);
    store.asked.length = 0;
    expect((await SessionConversation.open(store, { maxTurns: 0 })).isEmpty).toBe(true);
    expect(store.asked).toEqual([]);
  });

  it("records a turn in the store first, then in the window, with the same time", async () => {
    const store = new SmallStore();
    const clock = new FakeClock();
    const conversation = await SessionConversation.open(store, {}, clock);
    let open = (): void => undefined;
    store.gate = new Promise((resolve) => {
      open = resolve;
    });
    const recorded = conversation.recordTurn("user", "hello\0");
    await Promise.resolve();
    expect(conversation.isEmpty).toBe(true);
    clock.advance(1_000);
    open();
    await recorded;
    expect(conversation.length).toBe(1);
    expect(store.items).toMatchObject([{ role: "user", content: "hello\uFFFD", occurredAt: clock.now() - 1_000 }]);
    expect(conversation.turns).toEqual([{ role: "user", content: "hello\uFFFD", timestamp: clock.now() - 1_000 }]);
  });

  it("keeps evicted turns in the store, and the order of calls that are not awaited", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store, { maxTurns: 2 });
    const all = Array.from({ length: 20 }, (_, at) => String(at));
    await Promise.all(all.map((content, at) => conversation.recordTurn(at % 2 ? "assistant" : "user", content)));
    expect(store.items.map(({ content }) => content)).toEqual(all);
    expect(contentsOf(conversation)).toEqual(["18", "19"]);
    expect(contentsOf(await SessionConversation.open(store, { maxTurns: 2 }))).toEqual(["18", "19"]);
  });

  it("records nothing of a turn that the store refuses, and continues with the next", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store);
    store.failure = new HoldfastError("busy", "held");
    await expect(conversation.recordTurn("user", "lost")).rejects.toBe(store.failure);
    store.failure = undefined;
    await conversation.recordTurn("user", "kept");
    expect(contentsOf(conversation)).toEqual(["kept"]);
    expect(store.items.map(({ content }) => content)).toEqual(["kept"]);
  });

  it("refuses other speakers before it calls the store", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store);
    await expect(conversation.recordTurn("tool" as Speaker, "output")).rejects.toMatchObject({ code: "invalid_input" });
    expect(store.items).toEqual([]);
  });

  it("clears only its window; the store keeps all turns, and the next window starts from there", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store);
    await conversation.recordTurn("user", "before");
    conversation.clear();
    expect(conversation.isEmpty).toBe(true);
    expect(conversation.formatContext()).toBe("");
    await conversation.recordTurn("assistant", "after");
    expect(contentsOf(conversation)).toEqual(["after"]);
    expect(contentsOf(await SessionConversation.open(store))).toEqual(["before", "after"]);
  });

  it("shows changes of the store after a reload, which waits for pending turns", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store);
    await conversation.recordTurn("user", "forgotten");
    store.items.length = 0;
    const recorded = conversation.recordTurn("user", "new");
    await conversation.reload();
    expect(contentsOf(conversation)).toEqual(["new"]);
    await recorded;
    expect(contentsOf(conversation)).toEqual(["new"]);
  });

  it("keeps its window if a reload fails", async () => {
    const store = new SmallStore();
    const conversation = await SessionConversation.open(store);
    await conversation.recordTurn("user", "hello");
    store.list = () => Promise.reject(new Error("broken"));
    await expect(conversation.reload()).rejects.toThrow("broken");
    expect(contentsOf(conversation)).toEqual(["hello"]);
    await expect(SessionConversation.open(store)).rejects.toThrow("broken");
  });
});
