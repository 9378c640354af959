/** The non-public parts of the product that the raw side is derived from. The public entry is "holdfast". */
import type { loadConfig } from "../build/lib/config.js";
import type { decode, encode } from "../build/lib/retrieval/vectors/codes.js";
import type { connect } from "../build/lib/stores/sqlite/file/connection.js";
import type { Database, Statement, Value } from "../build/lib/stores/sqlite/file/driver.js";
import type { Writer, WriterOptions } from "../build/lib/stores/sqlite/writer.js";
import type { AddWrite, NewRow, Unit } from "../build/lib/stores/store.js";

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
  const part = async (path: string) => (await import(new URL(`../lib/${path}.js`, import.meta.url).href)) as unknown;
  const { connect } = (await part("stores/sqlite/file/connection")) as Pick<Product, "connect">;
  const { Writer } = (await part("stores/sqlite/writer")) as { readonly Writer: { readonly inMemory: OpenWriter } };
  const { newId } = (await part("ids")) as Pick<Product, "newId">;
  const { decode, encode } = (await part("retrieval/vectors/codes")) as Pick<Product, "decode" | "encode">;
  const openWriter: OpenWriter = (options, database) => Writer.inMemory(options, database);
  const { loadConfig } = (await part("config")) as Pick<Product, "loadConfig">;
  return { connect, openWriter, newId, decode, encode, loadConfig };
}
