-- +goose Up
CREATE TABLE previews (
    id            TEXT   NOT NULL PRIMARY KEY,
    -- The wish, which is its callers'.
    service       TEXT   NOT NULL,
    repository    TEXT   NOT NULL,
    dir           TEXT   NOT NULL,
    revision      TEXT   NOT NULL,
    commit_id     TEXT   NOT NULL,
    template      TEXT   NOT NULL,             -- JSON
    about         TEXT   NOT NULL,             -- JSON: the service as policy looks at it
    person        TEXT   NOT NULL,
    agent         TEXT   NOT NULL,
    owner         TEXT   NOT NULL,
    idem_key      TEXT,                        -- NULL for none
    input_hash    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,             -- all times in microseconds since 1970, UTC; 0 for none
    expires_at    BIGINT NOT NULL,
    ended_at      BIGINT NOT NULL,             -- when it was deleted
    ended_by      TEXT   NOT NULL,
    -- The state, which is the reconciler's.
    phase         TEXT   NOT NULL,
    reason        TEXT   NOT NULL,
    since         BIGINT NOT NULL,
    admitted_at   BIGINT NOT NULL,
    ready_at      BIGINT NOT NULL,
    url           TEXT   NOT NULL,
    running       TEXT   NOT NULL,
    remains       TEXT   NOT NULL,             -- JSON array
    tries         BIGINT NOT NULL,
    warned_of     BIGINT NOT NULL,
    -- Who looks after it.
    turn          BIGINT NOT NULL,
    overdue_at    BIGINT NOT NULL,
    holder        TEXT   NOT NULL,
    held_until    BIGINT NOT NULL
);
CREATE UNIQUE INDEX previews_by_key ON previews (person, agent, idem_key);
CREATE INDEX previews_by_time ON previews (created_at, id);
CREATE INDEX previews_alive ON previews (overdue_at) WHERE phase <> 'gone';

CREATE TABLE preview_events (
    preview TEXT   NOT NULL,
    n       BIGINT NOT NULL,                   -- ascends within a preview
    at      BIGINT NOT NULL,
    phase   TEXT   NOT NULL,
    text    TEXT   NOT NULL,
    actor   TEXT   NOT NULL,
    PRIMARY KEY (preview, n)
);

-- +goose Down
DROP TABLE preview_events;
DROP TABLE previews;
