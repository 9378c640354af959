/**
 * The limits of what callers may give. Over one that measures text, bytes or a list the answer is `too_large`; a number
 * out of its range, or nesting that is too deep, is `invalid_input`.
 */

/** Ids, idempotency keys, and the names of users, agents, teams, sessions and speakers, in UTF-16 units. */
export const NAME_UNITS_MAX = 512;

/** The text of one message in UTF-8; also the parts of one message as JSON. */
export const CONTENT_BYTES_MAX = 8 * 1024 * 1024;

/** The metadata of one message, as JSON in UTF-8. */
export const METADATA_BYTES_MAX = 64 * 1024;

/** Objects and lists inside each other, the outermost counted. */
export const JSON_DEPTH_MAX = 32;

/** The text of a query in UTF-8. */
export const QUERY_BYTES_MAX = 64 * 1024;

/** Results of one query, items of one page. */
export const RESULTS_MAX = 1000;

/** Values in one list of a filter. */
export const FILTER_VALUES_MAX = 1000;

/** Metadata keys in one filter. */
export const FILTER_KEYS_MAX = 100;

/** Spaces one read may name. */
export const SPACES_MAX = 100;

/** A page cursor, in UTF-16 units. It is the store's own text, so this only stops what cannot be one. */
export const CURSOR_UNITS_MAX = 8192;

/** Ids in one call. */
export const IDS_MAX = 100_000;
