/** The bounds of a group commit. */

/** A group is at most this much, so that nobody waits long behind it. */
export const GROUP_MESSAGES = 256;
export const GROUP_BYTES = 1024 * 1024;
export const GROUP_WORK_MS = 5;
