/**
 * For how long a lease hides an entry. Processes share nothing but the time of day, which may be set back: then an entry
 * would stay hidden for as long as that. So a lease whose end lies further away than twice its length has ended, and
 * whatever the clock does, none hides an entry for longer than that. It may end too early for the same reason; the fence
 * keeps that harmless.
 */
export interface Hold {
  /** Epoch milliseconds. */
  readonly until: number;
  readonly ms: number;
}

export const isHeld = ({ until, ms }: Hold, now: number): boolean => until > now && until - now <= 2 * ms;

/** The same in SQL, over the columns of `hold`; `?2` is now. False also where there is no hold. */
export const IS_HELD = "coalesce(hold.until > ?2 AND hold.until - ?2 <= 2 * hold.ms, false)";
