/**
 * How fast memory can be read: so many bytes, compared half by half (`memcmp` of the C library, which uses the widest
 * registers there are). One byte for each number of each vector is what an int8 scan has to read.
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
