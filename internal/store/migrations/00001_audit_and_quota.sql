-- One text for SQLite and PostgreSQL: TEXT and BIGINT mean the same in both.

-- +goose Up
CREATE TABLE audit (
    id           TEXT   NOT NULL PRIMARY KEY, -- UUIDv7: later ones are greater
    begun_at     BIGINT NOT NULL,             -- microseconds since 1970, UTC
    action       TEXT   NOT NULL,
    operation    TEXT   NOT NULL,
    target       TEXT   NOT NULL,
    subject      TEXT   NOT NULL,
    agent        TEXT   NOT NULL,
    token_name   TEXT   NOT NULL,
    group_refs   TEXT   NOT NULL,             -- JSON array
    input        TEXT   NOT NULL,
    policy_rule  TEXT   NOT NULL,
    status       TEXT   NOT NULL,             -- unknown until the end is recorded
    code         TEXT   NOT NULL,
    message      TEXT   NOT NULL,
    took         BIGINT NOT NULL              -- nanoseconds
);
CREATE INDEX audit_by_subject ON audit (subject, id);
CREATE INDEX audit_by_target ON audit (target, id);
CREATE INDEX audit_by_time ON audit (begun_at);

CREATE TABLE quota (
    name    TEXT   NOT NULL PRIMARY KEY,
    full_at BIGINT NOT NULL                   -- when all of it is there again, in nanoseconds since 1970
);

-- +goose Down
DROP TABLE quota;
DROP TABLE audit;
