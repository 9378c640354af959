/** The folder for files, and the empty memory that every file starts from. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { loadProduct, type Product } from "./product.js";

export class Workplace {
  readonly product: Product;
  /** Created by the product: opened once and closed. */
  readonly emptyFile: string;
  readonly #folder: string;
  #files = 0;

  private constructor(product: Product, folder: string, emptyFile: string) {
    this.product = product;
    this.#folder = folder;
    this.emptyFile = emptyFile;
  }

  /** A new temporary folder (`TMPDIR`). */
  static async make(): Promise<Workplace> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
    const emptyFile = join(folder, "empty.db");
    await (await openMemory({ path: emptyFile })).close();
    return new Workplace(await loadProduct(), folder, emptyFile);
  }

  newPath(name: string): string {
    return join(this.#folder, `${name}-${++this.#files}.db`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
