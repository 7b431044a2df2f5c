-- +goose Up
CREATE TABLE approvals (
    id           TEXT   NOT NULL PRIMARY KEY, -- UUIDv7: later ones are greater
    state        TEXT   NOT NULL,             -- pending, granted, denied, used or expired
    binding      TEXT   NOT NULL,             -- hash of all that it is bound to
    action       TEXT   NOT NULL,
    operation    TEXT   NOT NULL,
    target       TEXT   NOT NULL,
    summary      TEXT   NOT NULL,
    plan         TEXT   NOT NULL,             -- JSON, secrets masked
    plan_hash    TEXT   NOT NULL,
    subject      TEXT   NOT NULL,
    agent        TEXT   NOT NULL,
    policy_rule  TEXT   NOT NULL,
    resource     TEXT   NOT NULL,             -- JSON
    approvers    TEXT   NOT NULL,             -- JSON
    requested_at BIGINT NOT NULL,             -- microseconds since 1970, UTC, as are those below
    expires_at   BIGINT NOT NULL,
    decided_by   TEXT   NOT NULL,
    decided_at   BIGINT NOT NULL,             -- 0 until then
    reason       TEXT   NOT NULL,
    used_at      BIGINT NOT NULL,             -- 0 until then
    changed      BIGINT NOT NULL              -- the revision of its last change
);
CREATE UNIQUE INDEX approvals_open ON approvals (binding) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_by_binding ON approvals (binding, id);
CREATE INDEX approvals_by_subject ON approvals (subject, id);
CREATE INDEX approvals_by_expiry ON approvals (state, expires_at);
CREATE INDEX approvals_by_change ON approvals (changed);

-- The request for approval that an act made, used or decided on.
ALTER TABLE audit ADD COLUMN approval TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE audit DROP COLUMN approval;
DROP TABLE approvals;
