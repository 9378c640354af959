/** The size limits of a group commit. */

/** Upper bounds of a group, so that no call waits long behind it. */
export const GROUP_MESSAGES = 256;
export const GROUP_BYTES = 1024 * 1024;
export const GROUP_WORK_MS = 5;
