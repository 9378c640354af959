import { expect, it } from "vitest";
import { hashOf, idIn, newSecret } from "./secret.js";

it("a secret has its id and 256 random bits, and no two are alike", () => {
  const secrets = Array.from({ length: 500 }, newSecret);
  for (const { id, secret } of secrets) {
    expect(secret).toMatch(/^hf_[0-9a-f]{16}_[\w-]{43}$/);
    expect(Buffer.from(secret.slice(-43), "base64url")).toHaveLength(32);
    expect(idIn(secret)).toBe(id);
  }
  expect(new Set(secrets.map(({ id }) => id)).size).toBe(500);
  expect(new Set(secrets.map(({ secret }) => secret.slice(-43))).size).toBe(500);
});

it("the id is found even if the random part contains _ and -", () => {
  expect(idIn(`hf_0123456789abcdef_${"_-".repeat(21)}_`)).toBe("0123456789abcdef");
});

it("what is no secret has no id", () => {
  const { secret } = newSecret();
  const wrong: readonly unknown[] = [
    ...["", "hf_", "hf__", secret.slice(1), secret.slice(0, -1), `${secret}x`, `${secret}\n`, ` ${secret}`],
    ...[secret.toUpperCase(), secret.replace("hf_", "hx_"), `${secret.slice(0, -1)}\u0000`, `${secret.slice(0, -1)}é`],
    ...[
      `${secret.slice(0, -1)}\n`,
      `${secret.slice(0, -1)}=`,
      "é".repeat(63),
      "\ud800".repeat(63),
      "\u0000".repeat(63),
    ],
    ...["x".repeat(50_000_000), undefined, null, 7, {}, [secret], { length: 63 }, new String(secret)],
  ];
  for (const text of wrong) expect(idIn(text)).toBeUndefined();
});

it("the whole text is hashed, by SHA-256", () => {
  expect(hashOf("abc").toString("hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
