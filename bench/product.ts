/** The non-public parts of the product that the raw side is derived from. The public entry is "holdfast". */
import type { loadConfig } from "../dist/config.js";
import type { decode, encode } from "../dist/retrieval/vectors/codes.js";
import type { connect } from "../dist/stores/sqlite/file/connection.js";
import type { Database, Statement, Value } from "../dist/stores/sqlite/file/driver.js";
import type { Writer, WriterOptions } from "../dist/stores/sqlite/writer.js";
import type { AddWrite, NewRow, Unit } from "../dist/stores/store.js";

export type { AddWrite, Database, NewRow, Statement, Unit, Value, Writer };

/** Opens the writer on our own connection and this thread, without its checks of the file. */
type OpenWriter = (options: WriterOptions, database: Database) => Promise<Writer>;

export interface Product {
  readonly connect: typeof connect;
  readonly openWriter: OpenWriter;
  readonly newId: (now: number) => string;
  /** Vectors as the file keeps them. */
  readonly decode: typeof decode;
  readonly encode: typeof encode;
  /** The options of a service that is put together by hand. */
  readonly loadConfig: typeof loadConfig;
}

export async function loadProduct(): Promise<Product> {
  const part = async (path: string) =>
    (await import(new URL(`../../dist/${path}.js`, import.meta.url).href)) as unknown;
  const { connect } = (await part("stores/sqlite/file/connection")) as Pick<Product, "connect">;
  const { Writer } = (await part("stores/sqlite/writer")) as { readonly Writer: { readonly inMemory: OpenWriter } };
  const { newId } = (await part("ids")) as Pick<Product, "newId">;
  const { decode, encode } = (await part("retrieval/vectors/codes")) as Pick<Product, "decode" | "encode">;
  const openWriter: OpenWriter = (options, database) => Writer.inMemory(options, database);
  const { loadConfig } = (await part("config")) as Pick<Product, "loadConfig">;
  return { connect, openWriter, newId, decode, encode, loadConfig };
}
