/** The episode that contexto's context engine produces after each turn and its backend accepts. */
import type { Json } from "../../types.js";

export type WebhookPayload = {
  /** Unique, and the same whenever the episode is delivered. The engines set it. */
  readonly id?: string | undefined;
  /** `{ type: "episode", action: "combined" }` for a turn. */
  readonly event: { readonly type: string; readonly action: string };
  readonly sessionKey: string;
  readonly timestamp: string | number;
  readonly context: {
    readonly sessionId: string;
    readonly model?: string | undefined;
    readonly provider?: string | undefined;
  };
  readonly data: { readonly messages: readonly Json[] };
};
