import { describe, expect, it } from "vitest";
import type { Access, ApiKey, KeySpace } from "../stores/keys.js";
import { allows, covers, mayActAs } from "./coverage.js";

const keyOf = (spaces: readonly KeySpace[], more: Partial<ApiKey> = {}): ApiKey => ({
  id: "k",
  access: "read",
  spaces,
  createdAt: 0,
  ...more,
});

describe("a key covers", () => {
  it("the spaces that it names, and no other of their name or kind", () => {
    const key = keyOf([{ user: "ada" }, { team: "crew" }]);
    expect(covers(key, { user: "ada" })).toBe(true);
    expect(covers(key, { team: "crew" })).toBe(true);
    for (const space of [{ user: "crew" }, { team: "ada" }, { agent: "ada" }, { user: "Ada" }, { user: "" }]) {
      expect(covers(key, space), JSON.stringify(space)).toBe(false);
    }
  });

  it("all spaces of a kind, and none of the others", () => {
    const key = keyOf(["agent", { user: "ada" }]);
    expect(covers(key, { agent: "any" })).toBe(true);
    expect(covers(key, { user: "ada" })).toBe(true);
    expect(covers(key, { user: "any" })).toBe(false);
    expect(covers(key, { team: "any" })).toBe(false);
    expect(covers(key, { user: "agent" }), "a user who is called like a kind").toBe(false);
    expect(covers(keyOf([{ user: "agent" }]), { agent: "any" })).toBe(false);
  });

  it("nothing if none of it is left", () => {
    const key = keyOf([], { forgotten: ["user"] });
    for (const space of [{ user: "ada" }, { agent: "ada" }, { team: "ada" }]) expect(covers(key, space)).toBe(false);
  });
});

describe("a key may act as", () => {
  it("any agent if it has never named one", () => {
    expect(mayActAs(keyOf([{ user: "ada" }, "team"]), "tutor")).toBe(true);
    expect(mayActAs(keyOf([{ user: "agent" }], { forgotten: ["user", "team"] }), "tutor")).toBe(true);
  });

  it("the agents that it names", () => {
    const key = keyOf([{ user: "ada" }, { agent: "tutor" }]);
    expect(mayActAs(key, "tutor")).toBe(true);
    expect(mayActAs(key, "clerk")).toBe(false);
    expect(mayActAs(keyOf(["agent"]), "clerk")).toBe(true);
  });

  it("no other agent when its agent is forgotten", () => {
    const key = keyOf([{ user: "ada" }], { forgotten: ["agent"] });
    expect(mayActAs(key, "tutor")).toBe(false);
    expect(mayActAs(key, "clerk")).toBe(false);
    expect(mayActAs(keyOf([{ agent: "clerk" }], { forgotten: ["agent"] }), "clerk")).toBe(true);
  });
});

describe("a key allows", () => {
  it.each([
    ["read", ["read"]],
    ["write", ["read", "write"]],
    ["admin", ["read", "write", "admin"]],
  ] as const)("with %s: %s", (access, allowed) => {
    const key = keyOf(["user"], { access });
    expect((["read", "write", "admin"] as const).filter((asked) => allows(key, asked))).toEqual(allowed);
  });

  it("nothing that is no access, and nothing at all with an access that is none", () => {
    expect(allows(keyOf(["user"], { access: "admin" }), "owner" as Access)).toBe(false);
    expect(allows(keyOf(["user"], { access: "owner" as Access }), "read")).toBe(false);
    expect(allows(keyOf(["user"], { access: "owner" as Access }), "owner" as Access)).toBe(false);
  });
});
