/** A worker, as seen by the parent. */
import { Child, type End } from "../../support/child.js";
import type { Found, Order, Report } from "./protocol.js";

type Listener = (report: Report) => void;

export class WorkerProcess {
  readonly ended: Promise<End>;
  readonly #child: Child<Order, Report>;
  readonly #opened: Promise<void>;
  #listener: Listener;

  /** Its clock is `aheadMs` ahead. Reports go to `listener` until something else awaits them. */
  constructor(path: string, aheadMs = 0, listener: Listener = () => undefined) {
    this.#listener = listener;
    let open: () => void = () => undefined;
    this.#opened = new Promise((resolve) => {
      open = resolve;
    });
    this.#child = new Child(new URL("./worker.js", import.meta.url), [path, String(aheadMs)], (report) => {
      if (report.say === "open") open();
      this.#listener(report);
    });
    this.ended = this.#child.ended;
  }

  give(order: Order): void {
    this.#child.give(order);
  }

  kill(): void {
    this.#child.kill();
  }

  /**
   * Sends the order and passes reports to the listener up to the one that answers it. Fails if the worker ends before.
   */
  async until<Say extends Report["say"]>(
    say: Say,
    order: Order,
    listener: Listener = () => undefined,
  ): Promise<Report & { say: Say }> {
    await this.#opened;
    const answer = new Promise<Report & { say: Say }>((resolve) => {
      this.#listener = (report) => {
        listener(report);
        if (report.say === say) resolve(report as Report & { say: Say });
      };
    });
    this.give(order);
    const end = this.ended.then(({ stderr }) => Promise.reject(new Error(`the worker has ended: ${stderr}`)));
    return Promise.race([answer, end]);
  }

  async look(ids: readonly number[]): Promise<Found> {
    return (await this.until("found", { do: "look", ids })).found;
  }

  /** Lets it close the store and end. */
  async close(): Promise<void> {
    this.give({ do: "close" });
    const { code, stderr } = await this.ended;
    if (code !== 0) throw new Error(`the worker failed: ${stderr}`);
  }
}
