import { describe, expect, it, test } from "vitest";
import { Caller } from "../calls/caller.js";
import { AdmissionControl, type Sender } from "./admission-control.js";
import { asksForKeys, Guard } from "./guard.js";
import { KeyRing } from "./key-ring.js";

const MIB = 1024 * 1024;
const overloaded = expect.objectContaining({ code: "overloaded", hint: expect.any(String) });
const limited = expect.objectContaining({ code: "rate_limited", hint: expect.any(String) });

function admissionFor(maxRequests: number, maxBodyBytes = 16 * MIB): AdmissionControl {
  const guard = new Guard({ host: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  const keys = new KeyRing({ verify: async () => undefined }, false);
  return new AdmissionControl({ guard, keys, maxRequests, maxBodyBytes, ratePerSecond: 0 });
}

const from = (address: string): Sender => ({ host: "", origin: undefined, authorization: undefined, address });
const here = from("127.0.0.1");
const withKey = (id: string): Caller =>
  new Caller({ id, access: "read", spaces: [], agents: undefined, createdAt: 0 } as unknown as Caller["key"] & object);

describe("concurrent requests", () => {
  it("are limited, and leave a free slot when they end", () => {
    const admission = admissionFor(2);
    const slot = admission.enter(here);
    admission.enter(here);
    expect(() => admission.enter(here)).toThrow(overloaded);
    slot.leave();
    slot.leave();
    admission.enter(here);
    expect(() => admission.enter(here)).toThrow(overloaded);
    expect([admission.inFlight, admission.refused]).toEqual([2, 2]);
  });

  it.each<[string, (name: string) => readonly [Sender, Caller?]]>([
    ["keys", (name) => [here, withKey(name)]],
    ["addresses, without keys", (name) => [from(name)]],
  ])("are shared: however many greedy %s there are, the next one finds room", (_, named) => {
    const admission = admissionFor(512);
    for (let greedy = 1; greedy <= 8; greedy++) {
      const enter = () => admission.enter(...named(`greedy ${greedy}`));
      const count = (): number => {
        for (let taken = 0; ; taken++) {
          try {
            enter();
          } catch (error) {
            expect(error).toEqual(limited);
            return taken;
          }
        }
      };
      expect(count(), `${greedy} greedy ones`).toBeGreaterThan(0);
      admission.enter(...named("another")).leave();
    }
  });
});

describe("bytes held at the same time", () => {
  it("are counted as they arrive, and released", () => {
    const admission = admissionFor(100);
    const slots = Array.from({ length: 50 }, () => admission.enter(here));
    for (const slot of slots) slot.hold(1);
    slots[0]?.hold(128 * MIB);
    expect(() => slots[1]?.hold(16 * MIB)).toThrow(limited);
    slots[0]?.hold(1);
    slots[1]?.hold(16 * MIB);
    slots[1]?.leave();
    slots[2]?.hold(120 * MIB);
  });

  it("have room for the largest body, whatever its limit", () => {
    const admission = admissionFor(100, 1024 * MIB);
    const slot = admission.enter(here);
    for (let bytes = 0; bytes <= 1024 * MIB; bytes += MIB / 2) slot.hold(bytes);
  });

  it("are shared: a caller that holds half gets no more, and others do", () => {
    const admission = admissionFor(100);
    const greedy = Array.from({ length: 20 }, () => admission.enter(here, withKey("greedy")));
    const refused = greedy.filter((slot) => {
      try {
        slot.hold(16 * MIB);
        return false;
      } catch {
        return true;
      }
    });
    expect(refused.length).toBeGreaterThan(8);
    admission.enter(here, withKey("another")).hold(16 * MIB);
  });

  it("include unread answers: a caller with too many of them has to read first", () => {
    const admission = admissionFor(100);
    const unread = admission.enter(here, withKey("greedy"));
    unread.answer(2048 * MIB);
    expect(() => admission.enter(here, withKey("greedy"))).toThrow(limited);
    admission.enter(here, withKey("another")).hold(16 * MIB);
    unread.leave();
    admission.enter(here, withKey("greedy")).hold(16 * MIB);
  });
});

test("has as many open streams as it takes on requests, and counts each once", () => {
  const admission = admissionFor(2);
  const slot = admission.enter(here);
  const leave = slot.listen();
  slot.listen();
  expect(() => slot.listen()).toThrow(overloaded);
  leave();
  leave();
  slot.listen();
  expect(() => slot.listen()).toThrow(overloaded);
  const shared = admissionFor(100);
  const greedy = shared.enter(here, withKey("greedy"));
  expect(() => {
    for (let count = 0; count < 100; count++) greedy.listen();
  }).toThrow(limited);
  shared.enter(here, withKey("another")).listen();
});

test("keys are required wherever other machines can connect", () => {
  const at = (host: string, allowedHosts?: string, requireKey = false) =>
    asksForKeys({ host, allowedHosts, requireKey });
  expect(at("127.0.0.1")).toBe(false);
  expect(at("localhost")).toBe(false);
  expect(at("::1")).toBe(false);
  expect(at("127.0.0.1", undefined, true)).toBe(true);
  expect(at("127.0.0.1", "memory.example.com")).toBe(true);
  expect(at("0.0.0.0")).toBe(true);
  expect(at("192.168.1.2")).toBe(true);
});
