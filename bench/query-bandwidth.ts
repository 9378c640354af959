/**
 * The bandwidth of memory: compares the halves of a buffer (`memcmp` of the C library, which uses the widest registers). An
 * int8 scan has to read one byte for each number of each vector.
 */
export class Bandwidth {
  readonly #first: Buffer;
  readonly #second: Buffer;

  constructor(bytes: number) {
    this.#first = Buffer.alloc(Math.ceil(bytes / 2), 1);
    this.#second = Buffer.from(this.#first);
  }

  read(): number {
    return this.#first.compare(this.#second);
  }
}
