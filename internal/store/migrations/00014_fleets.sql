-- +goose Up
CREATE TABLE fleets (
    id         TEXT    NOT NULL PRIMARY KEY,
    person     TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    mandate    TEXT    NOT NULL,             -- JSON: who started it
    spec       TEXT    NOT NULL,             -- JSON: what was asked
    title      TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    plan_hash  TEXT    NOT NULL,
    wave       INTEGER NOT NULL,
    protected  INTEGER NOT NULL,
    approval   TEXT    NOT NULL,             -- JSON
    why        TEXT    NOT NULL,
    next       TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,             -- all times in microseconds since 1970, UTC; 0 for none
    started_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    ended_at   BIGINT  NOT NULL,
    -- When to look after it again, and whose turn is at work on it.
    due_at     BIGINT  NOT NULL,
    holder     TEXT    NOT NULL,
    held_until BIGINT  NOT NULL
);
CREATE INDEX fleets_by_time ON fleets (created_at, id);
CREATE INDEX fleets_running ON fleets (due_at) WHERE state = 'running';

CREATE TABLE fleet_members (
    fleet      TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    service    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    wave       INTEGER NOT NULL,
    about      TEXT    NOT NULL,             -- JSON: the service as policy looks at it
    conflicts  TEXT    NOT NULL,             -- JSON array, '' for none
    said       TEXT    NOT NULL,             -- JSON: the rest of it
    binding    TEXT    NOT NULL,
    diff       TEXT    NOT NULL,
    proposal   TEXT    NOT NULL,
    updated_at BIGINT  NOT NULL,
    PRIMARY KEY (fleet, position)
);
CREATE UNIQUE INDEX fleet_members_by_service ON fleet_members (fleet, service);
CREATE INDEX proposals_unended ON proposals (forge, name) WHERE ended_at = 0;

-- +goose Down
DROP INDEX proposals_unended;
DROP TABLE fleet_members;
DROP TABLE fleets;
