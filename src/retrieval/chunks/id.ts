/** Ids of chunks in an external index. They are deterministic: a retry on any machine writes the same point. */
import { createHash } from "node:crypto";

/** A UUID of version 8 (RFC 9562: custom) from the SHA-256 of what identifies the chunk. */
export function chunkId(spaceId: string, key: number, part: number): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify([spaceId, key, part]))
    .digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
