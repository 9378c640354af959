/**
 * A disk under a folder, as the records of the shim leave it: what is durable, and what a power cut may still take back.
 *
 * - A write or a change of size is durable when a sync of its file has returned that began after it.
 * - A change of a name is durable when a sync of its folder has returned that began after it. The sync of a file says
 *   nothing about its name.
 * - Until then each change may have reached the disk or not, whatever became of others, and a write in part: sectors are
 *   written as a whole or not at all, and no byte beside a write is changed (which SQLite calls powersafe overwrite).
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FileRecord } from "./recording.js";

/** A change that is not durable. `order` counts the changes of the whole disk. */
export type Change =
  | { readonly kind: "write"; readonly order: number; readonly file: File; readonly at: number; readonly data: Buffer }
  | { readonly kind: "resize"; readonly order: number; readonly file: File; readonly size: number }
  /** `removed` is a name that goes; `added` one that comes, and takes the place of another of that name. */
  | {
      readonly kind: "name";
      readonly order: number;
      readonly folder: Folder;
      readonly removed?: string;
      readonly added?: { readonly name: string; readonly node: Node };
    };

/** What a write in part leaves from `at` on. `before` is what was there, which is less than `data` if the file has grown. */
export type Tear = (at: number, data: Buffer, before: Buffer) => Buffer;
/** What became of a change at the power cut. */
export type Fate = "kept" | "lost" | Tear;

type Node = File | Folder;

export class File {
  /** The last name that it was opened by. */
  name: string;
  content = new Content();
  pending: (Change & { kind: "write" | "resize" })[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** The content after a power cut. */
  after(fateOf: (change: Change) => Fate): Buffer {
    if (this.pending.length === 0) return this.content.bytes;
    const content = this.content.copy();
    for (const change of this.pending) {
      const fate = fateOf(change);
      if (fate === "lost") continue;
      if (change.kind === "resize") content.resize(change.size);
      else if (fate === "kept") content.write(change.at, change.data);
      else content.write(change.at, fate(change.at, change.data, content.read(change.at, change.data.length)));
    }
    return content.bytes;
  }
}

export class Folder {
  readonly entries = new Map<string, Node>();
  pending: (Change & { kind: "name" })[] = [];

  after(fateOf: (change: Change) => Fate): ReadonlyMap<string, Node> {
    const entries = new Map(this.entries);
    for (const change of this.pending) if (fateOf(change) !== "lost") applyName(entries, change);
    return entries;
  }
}

function applyName(entries: Map<string, Node>, { removed, added }: Change & { kind: "name" }): void {
  if (removed !== undefined) entries.delete(removed);
  if (added) entries.set(added.name, added.node);
}

/** Bytes that grow. */
class Content {
  #space = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#space.subarray(0, this.#size);
  }

  copy(): Content {
    const copy = new Content();
    copy.write(0, this.bytes);
    return copy;
  }

  /** Less if the end comes before. */
  read(at: number, length: number): Buffer {
    return this.bytes.subarray(at, at + length);
  }

  write(at: number, data: Buffer): void {
    if (at + data.length > this.#size) this.resize(at + data.length);
    data.copy(this.#space, at);
  }

  resize(size: number): void {
    if (size > this.#space.length) {
      const space = Buffer.alloc(Math.max(size, 2 * this.#space.length));
      this.bytes.copy(space);
      this.#space = space;
    }
    this.#space.fill(0, Math.min(size, this.#size), Math.max(size, this.#size));
    this.#size = size;
  }
}

export class Disk {
  readonly #root: Folder;
  /** All names as the running process sees them, by path. */
  readonly #names = new Map<string, Node>();
  readonly #handles = new Map<number, Node>();
  /** For each sync under way: what it is of, and the changes that it covers. */
  readonly #syncs = new Map<number, { readonly node: Node; readonly order: number }>();
  readonly #ignoresSyncs: boolean;
  #order = 0;

  /** All of the folder `base` is durable. A disk that ignores syncs makes nothing else durable: a test for the test. */
  constructor(base: string, ignoresSyncs = false) {
    this.#ignoresSyncs = ignoresSyncs;
    this.#root = this.#load(base, "");
  }

  #load(place: string, path: string): Folder {
    const folder = new Folder();
    this.#names.set(path, folder);
    for (const name of readdirSync(place)) {
      if (name.endsWith("-shm")) continue;
      const [real, known] = [join(place, name), join(path, name)];
      const node = statSync(real).isDirectory() ? this.#load(real, known) : new File(known);
      if (node instanceof File) node.content.write(0, readFileSync(real));
      folder.entries.set(name, node);
      this.#names.set(known, node);
    }
    return folder;
  }

  apply(record: FileRecord): void {
    switch (record.kind) {
      case "open": {
        if (record.isNew) this.#add(record.path, new File(record.path));
        const node = this.#node(record.path);
        if (node instanceof File) node.name = record.path;
        this.#handles.set(record.handle, node);
        return;
      }
      case "write": {
        const file = this.#file(record.handle);
        file.pending.push({ kind: "write", order: this.#order++, file, at: record.at, data: record.data });
        return;
      }
      case "resize": {
        const file = this.#file(record.handle);
        file.pending.push({ kind: "resize", order: this.#order++, file, size: record.size });
        return;
      }
      case "sync":
        this.#syncs.set(record.sync, { node: this.#opened(record.handle), order: this.#order });
        return;
      case "synced":
        if (!this.#ignoresSyncs) this.#settle(record.sync);
        return;
      case "rename":
      case "link": {
        const node = this.#node(record.from);
        if (node instanceof Folder || dirname(record.from) !== dirname(record.to)) {
          throw new Error(`the model does not know how to ${record.kind} ${record.from} to ${record.to}`);
        }
        const removed = record.kind === "rename" ? record.from : undefined;
        this.#change(record.to, { removed, added: node });
        return;
      }
      case "unlink":
      case "rmdir":
        this.#change(record.path, { removed: record.path });
        return;
      case "mkdir":
        this.#add(record.path, new Folder());
        return;
    }
  }

  #add(path: string, node: Node): void {
    this.#change(path, { added: node });
  }

  /** Changes the names of the folder that `path` lies in. */
  #change(path: string, { removed, added }: { readonly removed?: string | undefined; readonly added?: Node }): void {
    if (removed !== undefined) this.#names.delete(removed);
    if (added) this.#names.set(path, added);
    const folder = this.#node(parentOf(path));
    if (!(folder instanceof Folder)) throw new Error(`${path} does not lie in a folder`);
    folder.pending.push({
      kind: "name",
      order: this.#order++,
      folder,
      ...(removed !== undefined && { removed: basename(removed) }),
      ...(added && { added: { name: basename(path), node: added } }),
    });
  }

  #settle(sync: number): void {
    const { node, order } = this.#syncs.get(sync) as { node: Node; order: number };
    this.#syncs.delete(sync);
    if (node instanceof Folder) {
      for (const change of node.pending) if (change.order < order) applyName(node.entries, change);
      node.pending = node.pending.filter((change) => change.order >= order);
      return;
    }
    for (const change of node.pending) {
      if (change.order >= order) continue;
      if (change.kind === "resize") node.content.resize(change.size);
      else node.content.write(change.at, change.data);
    }
    node.pending = node.pending.filter((change) => change.order >= order);
  }

  #node(path: string): Node {
    const node = this.#names.get(path);
    if (!node) throw new Error(`the recording names ${path || "the folder"}, which is not there`);
    return node;
  }

  #opened(handle: number): Node {
    const node = this.#handles.get(handle);
    if (!node) throw new Error(`the recording has no handle ${handle}`);
    return node;
  }

  #file(handle: number): File {
    const node = this.#opened(handle);
    if (node instanceof File) return node;
    throw new Error("the recording writes to a folder");
  }

  /** The changes that are not durable, in order. What became of files that no name leads to cannot matter. */
  get pending(): readonly Change[] {
    const changes: Change[] = [];
    const seen = new Set<Node>();
    const visit = (node: Node): void => {
      if (seen.has(node)) return;
      seen.add(node);
      changes.push(...node.pending);
      if (node instanceof File) return;
      for (const entry of node.entries.values()) visit(entry);
      for (const { added } of node.pending) if (added) visit(added.node);
    };
    visit(this.#root);
    return changes.sort((one, other) => one.order - other.order);
  }

  /** Every file after a power cut, by path; a folder has no bytes. */
  files(fateOf: (change: Change) => Fate): Map<string, Buffer | undefined> {
    const files = new Map<string, Buffer | undefined>();
    const visit = (folder: Folder, path: string): void => {
      for (const [name, node] of folder.after(fateOf)) {
        const inner = join(path, name);
        files.set(inner, node instanceof File ? node.after(fateOf) : undefined);
        if (node instanceof Folder) visit(node, inner);
      }
    };
    visit(this.#root, "");
    return files;
  }
}

const parentOf = (path: string): string => (dirname(path) === "." ? "" : dirname(path));

/** Writes files into a folder that exists, readable by this account only, as the product makes them. */
export function writeFiles(files: ReadonlyMap<string, Buffer | undefined>, folder: string): void {
  for (const [path, bytes] of files) {
    if (bytes) writeFileSync(join(folder, path), bytes, { mode: 0o600 });
    else mkdirSync(join(folder, path), { mode: 0o700 });
  }
}

/** How a folder's files differ from those of the model; empty if they are the same, byte for byte. */
export function differencesFrom(files: ReadonlyMap<string, Buffer | undefined>, folder: string): string[] {
  const found = new Map<string, Buffer | undefined>();
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const place = join(folder, path);
    if (!path.endsWith("-shm")) found.set(path, statSync(place).isDirectory() ? undefined : readFileSync(place));
  }
  const names = new Set([...files.keys(), ...found.keys()]);
  return [...names].filter((path) => {
    const [model, real] = [files.get(path), found.get(path)];
    if (!files.has(path) || !found.has(path)) return true;
    return model && real ? !model.equals(real) : model !== real;
  });
}
