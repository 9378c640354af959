/**
 * The limits on input. Exceeding a limit on text, bytes or a list fails with `too_large`. A number out of range, or
 * nesting that is too deep, fails with `invalid_input`.
 */

/** Ids, idempotency keys, and the names of users, agents, teams, sessions and speakers, in UTF-16 units. */
export const NAME_UNITS_MAX = 512;

/** The text of one message in UTF-8. Also applies to the parts of one message as JSON. */
export const CONTENT_BYTES_MAX = 8 * 1024 * 1024;

/** The lines of a block, and of a text that is put into one. Texts of more lines take an edit, a merge or a diff seconds. */
export const BLOCK_LINES_MAX = 100_000;

/** The metadata of one message, as JSON in UTF-8. */
export const METADATA_BYTES_MAX = 64 * 1024;

/** Nesting depth of objects and lists, including the outermost. */
export const JSON_DEPTH_MAX = 32;

/** Elements of all lists and objects in the parts of one message. (The limit on metadata bytes allows fewer.) */
export const JSON_ELEMENTS_MAX = 100_000;

/** The text of a query in UTF-8. */
export const QUERY_BYTES_MAX = 64 * 1024;

/** Results of one query, or items of one page. */
export const RESULTS_MAX = 1000;

/** Values in one list of a filter. */
export const FILTER_VALUES_MAX = 1000;

/** Metadata keys in one filter. */
export const FILTER_KEYS_MAX = 100;

/** Spaces that one read may name. */
export const SPACES_MAX = 100;

/** A page cursor, in UTF-16 units. The store generates cursors, so this only rejects values that cannot be one. */
export const CURSOR_UNITS_MAX = 8192;

/** Ids in one call. */
export const IDS_MAX = 100_000;

/** Nesting depth of objects and lists in JSON text, such as the body of a request or a line of an import. */
export const TEXT_DEPTH_MAX = 64;

/** Elements of all lists and objects in JSON text. Allows for the largest message and for `IDS_MAX` ids. */
export const TEXT_ELEMENTS_MAX = 110_000;

/** Numbers of a caller's own vector. Qdrant's limit. */
export const DIMENSIONS_MAX = 65_536;
