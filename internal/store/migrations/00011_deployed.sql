-- +goose Up
-- What was deployed where, a row for each revision of an environment.
CREATE TABLE deployed (
    id           TEXT   NOT NULL PRIMARY KEY,
    service      TEXT   NOT NULL,
    environment  TEXT   NOT NULL,
    application  TEXT   NOT NULL,
    revision     TEXT   NOT NULL,
    images       TEXT   NOT NULL,             -- JSON array
    deployed_at  BIGINT NOT NULL,             -- all times in microseconds since 1970, UTC; 0 for none
    seen_at      BIGINT NOT NULL,
    healthy_at   BIGINT NOT NULL,
    degraded_at  BIGINT NOT NULL,
    recovered_at BIGINT NOT NULL,
    replaced_at  BIGINT NOT NULL,
    replaced_by  TEXT   NOT NULL,
    undone       BIGINT NOT NULL              -- 1 where what was there before has come back
);
-- One is deployed now.
CREATE UNIQUE INDEX deployed_now ON deployed (service, environment) WHERE replaced_at = 0;
CREATE INDEX deployed_by_place ON deployed (service, environment, deployed_at);
CREATE INDEX deployed_by_time ON deployed (deployed_at);

-- Which replica does a work that one at a time does.
CREATE TABLE turns (
    work       TEXT   NOT NULL PRIMARY KEY,
    holder     TEXT   NOT NULL,
    held_until BIGINT NOT NULL
);

-- +goose Down
DROP TABLE turns;
DROP TABLE deployed;
