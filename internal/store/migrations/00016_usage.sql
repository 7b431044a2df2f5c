-- +goose Up
-- What making a proposal took, as its caller reports it: JSON.
ALTER TABLE proposals ADD COLUMN used TEXT NOT NULL DEFAULT '{}';
CREATE INDEX audit_refused ON audit (action, begun_at) WHERE status = 'refused';

-- +goose Down
DROP INDEX audit_refused;
ALTER TABLE proposals DROP COLUMN used;
