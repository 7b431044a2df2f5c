-- +goose Up
-- What a proposal is followed by from its pull request to what runs.
ALTER TABLE proposals ADD COLUMN environment TEXT NOT NULL DEFAULT '';
ALTER TABLE proposals ADD COLUMN asked TEXT NOT NULL DEFAULT '';       -- JSON: what was asked, so that it can be made anew; '' for what cannot
ALTER TABLE proposals ADD COLUMN touched TEXT NOT NULL DEFAULT '[]';   -- JSON: the values that it changes, before and after
ALTER TABLE proposals ADD COLUMN follow TEXT NOT NULL DEFAULT '{}';    -- JSON: the times and facts that callers are told
ALTER TABLE proposals ADD COLUMN course TEXT NOT NULL DEFAULT '{}';    -- JSON: what following has to remember
ALTER TABLE proposals ADD COLUMN outcome TEXT NOT NULL DEFAULT '';     -- of follow, to be found by
ALTER TABLE proposals ADD COLUMN follow_at BIGINT NOT NULL DEFAULT 0;  -- when it is looked at next; 0 for never
ALTER TABLE proposals ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0; -- when what callers are told changed last
UPDATE proposals SET follow_at = 1 WHERE state = 'open';
DROP INDEX proposals_open;
CREATE INDEX proposals_followed ON proposals (follow_at) WHERE follow_at > 0;
CREATE INDEX proposals_by_change ON proposals (changed_at);

-- +goose Down
DROP INDEX proposals_by_change;
DROP INDEX proposals_followed;
CREATE INDEX proposals_open ON proposals (checked_at) WHERE state = 'open';
ALTER TABLE proposals DROP COLUMN changed_at;
ALTER TABLE proposals DROP COLUMN follow_at;
ALTER TABLE proposals DROP COLUMN outcome;
ALTER TABLE proposals DROP COLUMN course;
ALTER TABLE proposals DROP COLUMN follow;
ALTER TABLE proposals DROP COLUMN touched;
ALTER TABLE proposals DROP COLUMN asked;
ALTER TABLE proposals DROP COLUMN environment;
