/** Lists: their order, and pages that neither lose nor repeat items during concurrent writes. */
import { expect } from "vitest";
import type { ListRequest } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, BOB, type ListOptions, type Probe } from "./probe.js";

const ORDERS = ["asc", "desc"] as const;
const SORTS = ["arrival", "timestamp"] as const;

export function lists(check: Check): void {
  check("lists by arrival, whatever the times, one space or several", async (probe) => {
    await probe.add(ADA, [{ id: "a", occurredAt: 300 }], { session: "s" });
    await probe.add(BOB, [{ id: "b", occurredAt: 100 }]);
    await probe.add(ADA, [{ id: "c", occurredAt: 200 }]);
    await probe.add(ADA, [{ id: "d", occurredAt: 100 }], { session: "s" });
    expect(await probe.ids(ADA)).toEqual(["a", "c", "d"]);
    expect(await probe.ids(ADA, { order: "desc" })).toEqual(["d", "c", "a"]);
    expect(await probe.ids([BOB, ADA])).toEqual(["a", "b", "c", "d"]);
    expect(await probe.ids([ADA, BOB], { order: "desc" })).toEqual(["d", "c", "b", "a"]);
  });

  check("lists by time of occurrence, ties by arrival", async (probe) => {
    await probe.add(ADA, [
      { id: "a", occurredAt: 300 },
      { id: "b", occurredAt: 100 },
      { id: "c", occurredAt: 200 },
      { id: "d", occurredAt: 100 },
      { id: "e", occurredAt: -5 },
    ]);
    await probe.add(BOB, [{ id: "f", occurredAt: 100 }]);
    const sortBy = "timestamp";
    expect(await probe.ids([ADA, BOB], { sortBy })).toEqual(["e", "b", "d", "f", "c", "a"]);
    expect(await probe.ids([ADA, BOB], { sortBy, order: "desc" })).toEqual(["a", "c", "f", "d", "b", "e"]);
    await probe.update(ADA, "c", { occurredAt: 400 });
    expect(await probe.ids(ADA, { sortBy })).toEqual(["e", "b", "d", "a", "c"]);
  });

  check("reads a space or a session that does not exist as empty", async (probe) => {
    await probe.add(ADA, ["one"], { session: "s" });
    const nobody = { user: "nobody" };
    expect(await probe.store.list(probe.listing(nobody))).toEqual({ items: [] });
    expect(await probe.store.list(probe.listing([]))).toEqual({ items: [] });
    expect(await probe.list(ADA, { filter: { sessions: ["none"] } })).toEqual([]);
    expect(await probe.get(nobody, "m1")).toEqual([]);
    expect(await probe.get([], "m1")).toEqual([]);
    expect(await probe.get(ADA)).toEqual([]);
    expect(await probe.search(nobody, "one")).toEqual([]);
    expect(await probe.search([], "one")).toEqual([]);
    expect(await probe.store.versions([])).toEqual([]);
    expect(await probe.store.sessions({ kind: "session", space: nobody, limit: 10 })).toEqual({ items: [] });
    expect(await probe.names("user"), "reading registers nobody").toEqual(["ada"]);
  });

  check("returns an item once, however often its space or id is named", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }]);
    expect(await probe.ids([ADA, ADA, { user: "ada" }])).toEqual(["x"]);
    expect(await probe.get([ADA, ADA], "x", "x")).toHaveLength(1);
    expect(await probe.found([ADA, ADA], "lamp")).toEqual(["x"]);
    const twice = await probe.store.changes([{ space: ADA }, { space: ADA }]);
    expect(twice.map(({ changed }) => changed.length)).toEqual([1, 1]);
  });

  for (const sortBy of SORTS) {
    for (const order of ORDERS) {
      check(`pages by ${sortBy}, ${order}: every item once, in order, and no page after the last`, async (probe) => {
        await fill(probe, 20);
        const whole = await probe.ids([ADA, BOB], { sortBy, order });
        expect(whole).toHaveLength(20);
        for (const limit of [1, 3, 10, 19, 20, 21]) {
          const pages = await pagesOf(probe, { sortBy, order, limit });
          expect(pages.flat(), `limit ${limit}`).toEqual(whole);
          expect(pages, `limit ${limit}`).toHaveLength(Math.ceil(20 / limit));
        }
      });

      check(`begins a page by ${sortBy}, ${order}, with any item of the list`, async (probe) => {
        await fill(probe, 20);
        const whole = await probe.ids([ADA, BOB], { sortBy, order });
        for (const [at, start] of whole.entries()) {
          const page = await probe.store.list(probe.listing([ADA, BOB], { sortBy, order, limit: 3, start }));
          expect(page.items.map(({ id }) => id)).toEqual(whole.slice(at, at + 3));
          if (page.next === undefined) continue;
          const rest = await probe.ids([ADA, BOB], { sortBy, order, cursor: page.next });
          expect(rest).toEqual(whole.slice(at + 3));
        }
      });

      check(`pages by ${sortBy}, ${order}, while others add and forget`, async (probe) => {
        await fill(probe, 20);
        const whole = await probe.ids([ADA, BOB], { sortBy, order });
        const seen: string[] = [];
        for (let cursor: string | undefined, round = 0; ; round++) {
          const request = probe.listing([ADA, BOB], { sortBy, order, limit: 3, ...(cursor && { cursor }) });
          const page = await probe.store.list(request);
          seen.push(...page.items.map(({ id }) => id));
          const last = page.items.at(-1);
          if (page.next === undefined || last === undefined) break;
          cursor = page.next;
          expect(round, "paging comes to its end").toBeLessThan(100);
          if (round >= 10) continue;
          // New items before, at and after the cursor; the item at the cursor is removed.
          const times = [-1, last.occurredAt, 1_000_000];
          await probe.add(
            ADA,
            times.map((occurredAt, at) => ({ id: `new-${round}-${at}`, occurredAt })),
          );
          await probe.forget({ space: last.space, ids: [last.id] });
        }
        expect(seen.filter((id) => !id.startsWith("new"))).toEqual(whole);
        expect(new Set(seen).size, "nothing is given twice").toBe(seen.length);
      });
    }
  }

  check("refuses to begin a page with an item that is not in the list", async (probe) => {
    await probe.add(ADA, [{ id: "a", role: "user" }], { session: "s" });
    await probe.add(BOB, [{ id: "b" }], { session: "s" });
    await probe.add(ADA, [{ id: "gone" }], { session: "s" });
    await probe.forget({ space: ADA, ids: ["gone"] });
    const filter = { sessions: ["s"] };
    expect(await probe.ids(ADA, { filter, start: "a" })).toEqual(["a"]);
    const refused = (start: string, options: ListOptions = {}) =>
      expect(probe.ids(ADA, { start, ...options }), start).rejects.toMatchObject({
        code: "not_found",
        details: { id: start },
      });
    await refused("b");
    await refused("gone");
    await refused("a", { filter: { roles: ["assistant"] } });
    await refused("a", { filter: { sessions: ["t"] } });
  });

  check("pages one session of a name that several spaces use", async (probe) => {
    for (let at = 0; at < 6; at++) {
      await probe.add(at % 2 === 0 ? ADA : BOB, [{ id: `i${at}` }], { session: "s" });
    }
    await probe.add(ADA, ["elsewhere"], { session: "t" });
    const filter = { sessions: ["s"] };
    expect(await probe.ids([ADA, BOB], { filter })).toEqual(["i0", "i1", "i2", "i3", "i4", "i5"]);
    for (const order of ORDERS) {
      const whole = await probe.ids([ADA, BOB], { filter, order });
      expect((await pagesOf(probe, { filter, order, limit: 1 })).flat()).toEqual(whole);
      expect((await pagesOf(probe, { filter, order, limit: 3 })).flat()).toEqual(whole);
    }
  });

  check("pages the items that match a filter", async (probe) => {
    await fill(probe, 20);
    const filter = { roles: ["assistant"] } as const;
    const whole = await probe.ids([ADA, BOB], { filter });
    expect(whole).toHaveLength(10);
    const pages = await pagesOf(probe, { filter, limit: 4 });
    expect(pages.map((page) => page.length)).toEqual([4, 4, 2]);
    expect(pages.flat()).toEqual(whole);
  });

  check("keeps the order of arrival of items that are edited while paging", async (probe) => {
    await fill(probe, 9);
    const first = await probe.store.list(probe.listing([ADA, BOB], { limit: 4 }));
    await probe.update(ADA, "i0", { content: "edited", parts: null });
    await probe.update(ADA, "i6", { content: "edited", parts: null });
    const rest = await probe.ids([ADA, BOB], { cursor: first.next as string });
    expect(rest).toEqual(["i4", "i5", "i6", "i7", "i8"]);
  });

  check("returns cursors that reveal nothing, and work in their own spaces only", async (probe) => {
    await fill(probe, 9);
    const first = async (spaces: readonly SpaceRef[]) => {
      const { next = "" } = await probe.store.list(probe.listing(spaces, { limit: 2 }));
      return next;
    };
    const [one, again] = [await first([ADA]), await first([ADA])];
    expect([one.length, one === again, /^[\w-]+$/.test(one)]).toEqual([again.length, false, true]);
    expect(await probe.ids([ADA], { cursor: one })).toEqual(await probe.ids([ADA], { cursor: again }));
    for (const others of [[BOB], [ADA, BOB]]) {
      await expect(probe.ids(others, { cursor: one })).rejects.toMatchObject({ code: "invalid_input" });
    }
    const turned = await first([BOB, ADA]);
    expect(await probe.ids([ADA, BOB], { cursor: turned }), "in whichever order they are named").toHaveLength(7);
  });

  check("refuses a cursor that it has not issued, or issued for another list", async (probe) => {
    await fill(probe, 9);
    const byTime = await probe.store.list(probe.listing([ADA, BOB], { limit: 2, sortBy: "timestamp" }));
    for (const cursor of ["", "nonsense", "🙂", "null", "W10", "1; DROP TABLE item", byTime.next as string]) {
      const request: ListRequest = probe.listing([ADA, BOB], { cursor });
      const refused = await probe.store.list(request).catch((error: unknown) => error);
      expect(refused, JSON.stringify(cursor)).toMatchObject({ code: "invalid_input" });
      expect((refused as { hint?: string }).hint).toBeTruthy();
    }
  });
}

/** Items in two spaces, with times unrelated to their arrival, some of them equal. */
async function fill(probe: Probe, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const role = at % 2 === 0 ? "user" : "assistant";
    await probe.add(at % 3 === 0 ? ADA : BOB, [{ id: `i${at}`, role, occurredAt: ((at * 7) % 5) * 100 }]);
  }
}

async function pagesOf(probe: Probe, options: ListOptions): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const request = probe.listing([ADA, BOB], { ...options, ...(cursor !== undefined && { cursor }) });
    const page = await probe.store.list(request);
    pages.push(page.items.map(({ id }) => id));
    if (page.next === undefined) return pages;
    expect(pages.length, "paging comes to its end").toBeLessThan(100);
    cursor = page.next;
  }
}
