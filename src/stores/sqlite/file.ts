/** The database file as the file system sees it: made private, and refused where it cannot be kept private or safe. */
import { closeSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../errors.js";

/** File systems on which SQLite's shared-memory log does not work across machines (statfs magic numbers). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
]);

/** Creates the file with mode 0600 if it is absent, and refuses one that others can read or that lies on a network. */
export function secureFile(path: string): void {
  const folder = dirname(path);
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new HoldfastError("store_failed", `the folder ${folder} does not exist`, {
        cause,
        hint: `create it first: mkdir -p ${folder}`,
      });
    }
    if (code !== "EEXIST") {
      throw new HoldfastError("store_failed", `cannot create ${path}: ${(cause as Error).message}`, {
        cause,
        hint: "choose a path in a folder that this process may write to",
      });
    }
  }
  const stat = statSync(path);
  if (stat.isDirectory()) {
    throw new HoldfastError("store_failed", `${path} is a folder`, { hint: `name a file, such as ${path}/memory.db` });
  }
  const open = openMode(stat.mode);
  if (open !== undefined) {
    throw new HoldfastError("store_unsafe", `${path} can be read by other accounts (mode ${open})`, {
      hint: `make it private: chmod 600 ${path}`,
    });
  }
  const network = networkOf(statfsSync(folder).type);
  if (network) {
    throw new HoldfastError("store_unsafe", `${path} lies on a network file system (${network})`, {
      hint: "keep the file on a local disk; SQLite's log is not safe over a network",
    });
  }
}

/** The mode as people write it, if other accounts may do anything with the file. */
export function openMode(mode: number): string | undefined {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  return (mode & 0o777).toString(8).padStart(4, "0");
}

/** The network file system of this number, if it is one. */
export const networkOf = (type: number): string | undefined => NETWORK_FILE_SYSTEMS.get(type);
