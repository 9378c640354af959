/**
 * BlockBus: notifies one open stream of changed blocks. It polls only while the stream is open. Each stream has its own
 * bus, so changes in one scope never reach another.
 */
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Clock } from "../../clock.js";
import { BlockWatch } from "../../mcp/block-watch.js";
import type { Session } from "../../session.js";

type Listener = (event: ServerEvent) => void;

export interface BlockBusParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

export class BlockBus implements ServerEventBus {
  readonly #listeners = new Set<Listener>();
  readonly #watch: BlockWatch;

  constructor({ session, clock, failed }: BlockBusParts) {
    this.#watch = new BlockWatch({
      blocks: () => session.blocks.list(),
      clock,
      failed,
      changed: ({ list, uris }) => {
        if (list) this.publish({ kind: "resources_list_changed" });
        for (const uri of uris) this.publish({ kind: "resource_updated", uri });
      },
    });
  }

  /** Resolves once later changes are certain to be reported. */
  start(): Promise<void> {
    return this.#watch.start();
  }

  stop(): void {
    this.#watch.stop();
  }

  publish(event: ServerEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
