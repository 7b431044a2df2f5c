-- +goose Up
-- What no two open proposals may be about; '' for those that are in nobody's way.
ALTER TABLE proposals ADD COLUMN slot TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX proposals_by_slot ON proposals (slot) WHERE ended_at = 0 AND slot <> '';

-- +goose Down
DROP INDEX proposals_by_slot;
ALTER TABLE proposals DROP COLUMN slot;
