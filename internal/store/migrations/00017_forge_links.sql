-- +goose Up
-- Accounts at forges that persons have linked. What opens them is sealed with a
-- key that is not in here.
CREATE TABLE forge_links (
    person     TEXT   NOT NULL,
    forge      TEXT   NOT NULL,
    account    TEXT   NOT NULL,
    sealed     TEXT   NOT NULL,              -- base64
    expires_at BIGINT NOT NULL,              -- all times in microseconds since 1970, UTC; 0 for none
    linked_at  BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    version    BIGINT NOT NULL,
    PRIMARY KEY (person, forge)
);

-- Links in the making.
CREATE TABLE forge_link_wishes (
    id         TEXT   NOT NULL PRIMARY KEY,
    person     TEXT   NOT NULL,
    forge      TEXT   NOT NULL,
    account    TEXT   NOT NULL,
    stage      TEXT   NOT NULL,
    secret     TEXT   NOT NULL,              -- hash of what the next step has to know; '' for nothing
    sealed     TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX forge_link_wishes_by_person ON forge_link_wishes (person);
CREATE INDEX forge_link_wishes_by_secret ON forge_link_wishes (secret);

-- +goose Down
DROP TABLE forge_link_wishes;
DROP TABLE forge_links;
