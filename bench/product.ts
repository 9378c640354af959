/** The parts of the product that the raw side is derived from. They are not public; the library's door is "holdfast". */
import type { connect } from "../dist/stores/sqlite/connection.js";
import type { Database, Statement, Value } from "../dist/stores/sqlite/driver.js";
import type { Writer, WriterOptions } from "../dist/stores/sqlite/writer.js";
import type { AddWrite, NewRow, Unit } from "../dist/stores/store.js";

export type { AddWrite, Database, NewRow, Statement, Unit, Value, Writer, WriterOptions };

/** The writer on a connection of our own, on this thread. */
export type WriterClass = new (database: Database, options: WriterOptions) => Writer;

export interface Product {
  readonly connect: typeof connect;
  readonly Writer: WriterClass;
  readonly newId: (now: number) => string;
}

export async function loadProduct(): Promise<Product> {
  const part = async (path: string) =>
    (await import(new URL(`../../dist/${path}.js`, import.meta.url).href)) as unknown;
  const { connect } = (await part("stores/sqlite/connection")) as Pick<Product, "connect">;
  const { Writer } = (await part("stores/sqlite/writer")) as Pick<Product, "Writer">;
  const { newId } = (await part("ids")) as Pick<Product, "newId">;
  return { connect, Writer, newId };
}
