-- +goose Up
CREATE TABLE proposals (
    id          TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    service     TEXT   NOT NULL,
    about       TEXT   NOT NULL,             -- JSON: the service as policy looks at it
    place       TEXT   NOT NULL,             -- JSON
    forge       TEXT   NOT NULL,             -- of place, to be found by
    name        TEXT   NOT NULL,
    branch      TEXT   NOT NULL,
    person      TEXT   NOT NULL,
    agent       TEXT   NOT NULL,
    idem_key    TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    evidence    TEXT   NOT NULL,             -- JSON array
    paths       TEXT   NOT NULL,             -- JSON array
    plan_hash   TEXT   NOT NULL,
    diff        TEXT   NOT NULL,
    base_commit TEXT   NOT NULL,
    commit_id   TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    pull        TEXT   NOT NULL,             -- JSON: the pull request as it was last read
    notes       TEXT   NOT NULL,             -- JSON array
    created_at  BIGINT NOT NULL,             -- all times in microseconds since 1970, UTC; 0 for none
    updated_at  BIGINT NOT NULL,
    checked_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL,
    -- Whose call is at work on it.
    holder      TEXT   NOT NULL,
    held_until  BIGINT NOT NULL
);
-- One key is one proposal, until that has ended.
CREATE UNIQUE INDEX proposals_by_key ON proposals (person, agent, idem_key) WHERE ended_at = 0;
CREATE INDEX proposals_by_time ON proposals (created_at, id);
CREATE INDEX proposals_open ON proposals (checked_at) WHERE state = 'open';
CREATE INDEX proposals_by_branch ON proposals (branch);

-- +goose Down
DROP TABLE proposals;
