/** What the shim has recorded of one process: every change of a folder's files, and its reports, in their true order. */
import { readFileSync } from "node:fs";

export type FileRecord =
  | { readonly kind: "open"; readonly handle: number; readonly path: string; readonly isNew: boolean }
  | { readonly kind: "write"; readonly handle: number; readonly at: number; readonly data: Buffer }
  | { readonly kind: "resize"; readonly handle: number; readonly size: number }
  /** A sync begins; then: it has succeeded. */
  | { readonly kind: "sync"; readonly handle: number; readonly sync: number }
  | { readonly kind: "synced"; readonly handle: number; readonly sync: number }
  | { readonly kind: "rename" | "link"; readonly from: string; readonly to: string }
  | { readonly kind: "unlink" | "mkdir" | "rmdir"; readonly path: string };

/** `lines` are the reports that this record completes, without their line ends. */
export type LogRecord = FileRecord | { readonly kind: "report"; readonly lines: readonly string[] };

/** In the order of the shim's numbers, which begin with 1. */
const KINDS = [
  ...(["open", "write", "resize", "sync", "synced", "rename", "unlink", "link", "mkdir", "rmdir"] as const),
  ...(["report", "unknown"] as const),
];
const HEAD_BYTES = 24;
const CREATED = 1;

/** A record that the end of the process has cut short is left out. Throws for what the model does not know. */
export function readRecording(path: string): LogRecord[] {
  const log = readFileSync(path);
  const records: LogRecord[] = [];
  let unfinished = "";
  for (let start = 0; start + HEAD_BYTES <= log.length; ) {
    const kind = KINDS[log.readUInt32LE(start) - 1];
    const handle = log.readUInt32LE(start + 4);
    const at = Number(log.readBigInt64LE(start + 8));
    const end = start + HEAD_BYTES + Number(log.readBigUInt64LE(start + 16));
    if (end > log.length) break;
    const data = log.subarray(start + HEAD_BYTES, end);
    const text = kind === "write" ? "" : data.toString("utf8");
    start = end;
    switch (kind) {
      case "open":
        records.push({ kind, handle, path: text, isNew: (at & CREATED) !== 0 });
        break;
      case "write":
        records.push({ kind, handle, at, data });
        break;
      case "resize":
        records.push({ kind, handle, size: at });
        break;
      case "sync":
      case "synced":
        records.push({ kind, handle, sync: at });
        break;
      case "rename":
      case "link": {
        const [from = "", to = ""] = text.split("\n");
        records.push({ kind, from, to });
        break;
      }
      case "unlink":
      case "mkdir":
      case "rmdir":
        records.push({ kind, path: text });
        break;
      case "report": {
        const lines = (unfinished + text).split("\n");
        unfinished = lines.pop() ?? "";
        records.push({ kind, lines });
        break;
      }
      default:
        throw new Error(`the process did something that the model of the disk does not know: ${text}`);
    }
  }
  return records;
}
