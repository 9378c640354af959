/** Another process that uses a file, as the test holds it. */
import { Child } from "../support/child.js";

export type Order = "mark" | "stop";
/** How many rounds it has added. */
export interface Mark {
  readonly rounds: number;
}
export type Report = { readonly ready: true } | Mark;

/** Messages of a round. */
export const ROUND = 3;

export class User {
  readonly #child: Child<Order, Report>;
  readonly #waiting: ((report: Report) => void)[] = [];

  private constructor(path: string, role: "hold" | "write") {
    this.#child = new Child(new URL("./writer.js", import.meta.url), [path, role], (report: Report) =>
      this.#waiting.shift()?.(report),
    );
  }

  /** Resolves when it has the file open. */
  static async start(path: string, role: "hold" | "write"): Promise<User> {
    const user = new User(path, role);
    await user.#next();
    return user;
  }

  #next(): Promise<Report> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async mark(): Promise<Mark> {
    const report = this.#next();
    this.#child.give("mark");
    return (await report) as Mark;
  }

  async stop(): Promise<void> {
    this.#child.give("stop");
    await this.#child.ended;
  }

  async kill(): Promise<void> {
    this.#child.kill();
    await this.#child.ended;
  }
}
