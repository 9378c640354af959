/** The episode that contexto's context engine produces after each turn and its backend accepts. */
import type { Json } from "../../types.js";

/** An episode in the form of contexto's webhook. */
export type WebhookPayload = {
  /** Unique, and the same whenever the episode is delivered. The engines set it. */
  readonly id?: string | undefined;
  /** `{ type: "episode", action: "combined" }` for a turn. */
  readonly event: { readonly type: string; readonly action: string };
  /** The key of the session, as the host names it. */
  readonly sessionKey: string;
  /** When the turn ended. */
  readonly timestamp: string | number;
  /** The session, and what answered. */
  readonly context: {
    readonly sessionId: string;
    readonly model?: string | undefined;
    readonly provider?: string | undefined;
  };
  /** The messages of the turn. */
  readonly data: { readonly messages: readonly Json[] };
};
