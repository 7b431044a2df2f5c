-- +goose Up
CREATE TABLE locations (
    id            TEXT   NOT NULL PRIMARY KEY, -- UUID
    type          TEXT   NOT NULL,
    target        TEXT   NOT NULL,
    entity_ref    TEXT   NOT NULL,             -- stays when the target changes
    subject       TEXT   NOT NULL,
    agent         TEXT   NOT NULL,
    group_refs    TEXT   NOT NULL,             -- JSON array
    registered_at BIGINT NOT NULL              -- microseconds since 1970, UTC
);
CREATE UNIQUE INDEX locations_by_target ON locations (type, target);

-- How often a table has changed, for replicas that look whether it has.
CREATE TABLE revision (
    name TEXT   NOT NULL PRIMARY KEY,
    n    BIGINT NOT NULL
);

-- +goose Down
DROP TABLE revision;
DROP TABLE locations;
