/**
 * Tables for re-embedding with another model.
 *
 * - `head.next_space` is the vector space that is being filled (0: none). Every item up to `next_cursor` has its vectors
 *   there, or a row in `next_due`; those behind it have yet to be looked at. `next_passed` counts the items up to there,
 *   `next_embedded` and `next_chunks` are what `embedded` and `chunks` will be after the switch.
 * - `next_due.error` says that the new model does not take the item; without one it is still to be embedded.
 * - `vector_space.state`: 0 in use; 1 served formerly, and 2 abandoned: its vectors are being removed; 3 removed. Rows
 *   stay, so that keys are never given twice.
 * - `head.settling`: after a switch, items may still look pending that have vectors of the new space.
 * - `outbox.vector_space`: of which space the points are. A former one only has deletes that matter.
 * - `borrow` is for all spaces together: a lender's text may be in some vectors of the borrower.
 */
export const VERSION_7 = `
ALTER TABLE head ADD COLUMN next_space INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN next_cursor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN next_passed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN next_embedded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN next_chunks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN settling INTEGER NOT NULL DEFAULT 0;
CREATE TABLE next_due (item INTEGER PRIMARY KEY, error TEXT, retry_at INTEGER);

ALTER TABLE vector_space ADD COLUMN state INTEGER NOT NULL DEFAULT 0;

ALTER TABLE outbox ADD COLUMN vector_space INTEGER NOT NULL DEFAULT 0;
UPDATE outbox SET vector_space = (SELECT vector_space FROM head);
DROP INDEX outbox_space;
CREATE INDEX outbox_space ON outbox (space, vector_space, item);
`;
