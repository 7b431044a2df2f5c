-- +goose Up
CREATE INDEX audit_by_agent ON audit (agent, id);

-- +goose Down
DROP INDEX audit_by_agent;
