-- +goose Up
-- The commit that the deployer took on last; the wish may have gone on since.
ALTER TABLE previews ADD COLUMN applied TEXT NOT NULL DEFAULT '';
UPDATE previews SET applied = commit_id WHERE phase <> 'pending';
-- The pull request that a preview follows, and its page; '' for none.
ALTER TABLE previews ADD COLUMN pull TEXT NOT NULL DEFAULT '';
ALTER TABLE previews ADD COLUMN pull_url TEXT NOT NULL DEFAULT '';
CREATE INDEX previews_by_pull ON previews (pull) WHERE pull <> '';

CREATE TABLE preview_pulls (
    id         TEXT   NOT NULL PRIMARY KEY,    -- forge:repository#number
    forge      TEXT   NOT NULL,                -- the name of the configured forge
    repository TEXT   NOT NULL,                -- the full name there
    number     BIGINT NOT NULL,
    told       BIGINT NOT NULL,                -- grows with each word of the forge's about it
    state      TEXT   NOT NULL,                -- JSON: what the keeper knows of it
    over       INTEGER NOT NULL,               -- 1 where nothing is left to do
    changed_at BIGINT NOT NULL,                -- times in microseconds since 1970, UTC; 0 for none
    due_at     BIGINT NOT NULL,
    holder     TEXT   NOT NULL,
    held_until BIGINT NOT NULL
);
CREATE INDEX preview_pulls_due ON preview_pulls (due_at) WHERE over = 0;

-- +goose Down
DROP TABLE preview_pulls;
DROP INDEX previews_by_pull;
ALTER TABLE previews DROP COLUMN pull_url;
ALTER TABLE previews DROP COLUMN pull;
ALTER TABLE previews DROP COLUMN applied;
