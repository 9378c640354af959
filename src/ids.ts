/**
 * Ids. The random part comes from the Web Crypto API, which browsers have too, so the client creates ids in the same
 * way.
 */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const pool = new Uint8Array(16 * 256);
let used = pool.length;
let lastMs = 0;
let counter = 0;

/**
 * A UUIDv7: sorts by creation time, even within a millisecond (a 12-bit counter follows the time; RFC 9562, method 1).
 * Ids keep increasing when the clock is set back.
 */
export function newId(now: number): string {
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let hex = "";
  for (const end = used + 8; used < end; used++) hex += HEX[pool[used] ?? 0];
  const variant = ((Number.parseInt(hex[0] ?? "0", 16) & 0x3) | 0x8).toString(16);
  const time = lastMs.toString(16).padStart(12, "0");
  const tick = counter.toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tick}-${variant}${hex.slice(1, 4)}-${hex.slice(4)}`;
}
