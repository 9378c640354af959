/**
 * Whether a lease still hides an entry. Processes share only the time of day, which may be set back; the entry would then stay
 * hidden for that long. So a lease whose end is further away than twice its length counts as expired: whatever the clock
 * does, no lease hides an entry for longer than that. It may also expire too early; the fence makes that harmless.
 */
export interface Hold {
  /** Epoch milliseconds. */
  readonly until: number;
  readonly ms: number;
}

export const isHeld = ({ until, ms }: Hold, now: number): boolean => until > now && until - now <= 2 * ms;

/** The same in SQL, over the columns of `hold`; `?2` is now. False if there is no hold. */
export const IS_HELD = "coalesce(hold.until > ?2 AND hold.until - ?2 <= 2 * hold.ms, false)";
