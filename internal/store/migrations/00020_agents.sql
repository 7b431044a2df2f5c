-- What the audit holds of each agent, by whom it acted for: kept beside it, as
-- counting a million acts would take a second. Texts as in the audit.

-- +goose Up
CREATE TABLE agents (
    agent   TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    acts    BIGINT NOT NULL,
    refused BIGINT NOT NULL, -- of these
    last_id TEXT   NOT NULL, -- of the newest act
    PRIMARY KEY (agent, subject)
);
CREATE INDEX agents_by_subject ON agents (subject);
INSERT INTO agents (agent, subject, acts, refused, last_id)
    SELECT agent, subject, COUNT(*), SUM(CASE WHEN status = 'refused' THEN 1 ELSE 0 END), MAX(id)
    FROM audit WHERE agent <> '' GROUP BY agent, subject;

-- +goose Down
DROP TABLE agents;
