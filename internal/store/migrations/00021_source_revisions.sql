-- The revision at which some replica has read a source last, for the others to
-- look whether they are behind. What is old is of no use and goes.

-- +goose Up
CREATE TABLE source_revisions (
    source   TEXT   NOT NULL PRIMARY KEY,
    revision TEXT   NOT NULL,
    n        BIGINT NOT NULL -- of table revision, 'sources', when it was written
);
CREATE INDEX source_revisions_by_n ON source_revisions (n);

-- +goose Down
DROP TABLE source_revisions;
