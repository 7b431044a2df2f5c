-- +goose Up
-- Leases of credentials. Nothing here is secret, or opens anything.
CREATE TABLE leases (
    id          TEXT   NOT NULL PRIMARY KEY,
    service     TEXT   NOT NULL,
    name        TEXT   NOT NULL,             -- of offer, to be found by
    environment TEXT   NOT NULL,
    offer       TEXT   NOT NULL,             -- JSON
    about       TEXT   NOT NULL,             -- JSON: what policy looked at
    person      TEXT   NOT NULL,
    agent       TEXT   NOT NULL,
    idem_key    TEXT   NOT NULL,
    input_hash  TEXT   NOT NULL,
    purpose     TEXT   NOT NULL,
    task        TEXT   NOT NULL,
    bound_to    TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,             -- all times in microseconds since 1970, UTC; 0 for none
    expires_at  BIGINT NOT NULL,
    until_at    BIGINT NOT NULL,
    state       TEXT   NOT NULL,
    ended       BIGINT NOT NULL,             -- 1 where nothing follows the state
    handle      TEXT   NOT NULL,             -- its account at the issuer, which opens nothing
    opened_at   BIGINT NOT NULL,             -- when that was made
    seen_at     BIGINT NOT NULL,             -- when the issuer was last seen to have it
    wrapping    TEXT   NOT NULL,
    accessor    TEXT   NOT NULL,
    wrap_ends   BIGINT NOT NULL,
    handed_at   BIGINT NOT NULL,
    missed_at   BIGINT NOT NULL,
    beat_at     BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL,
    gone_at     BIGINT NOT NULL,
    ended_by    TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    ends        TEXT   NOT NULL,
    alarm       BIGINT NOT NULL,
    tries       BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    version     BIGINT NOT NULL
);
CREATE UNIQUE INDEX leases_by_key ON leases (person, agent, idem_key) WHERE idem_key <> '' AND state <> 'failed';
CREATE INDEX leases_by_time ON leases (created_at, id);
CREATE INDEX leases_due ON leases (due_at) WHERE ended = 0;
CREATE INDEX leases_by_person ON leases (person, agent) WHERE ended = 0;
CREATE INDEX leases_by_service ON leases (service) WHERE ended = 0;
CREATE INDEX leases_by_binding ON leases (bound_to) WHERE ended = 0;
CREATE INDEX leases_by_handle ON leases (handle) WHERE ended = 0;

-- +goose Down
DROP TABLE leases;
