-- +goose Up
ALTER TABLE leases ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0; -- when it was last written down
CREATE INDEX leases_by_change ON leases (changed_at);

-- +goose Down
DROP INDEX leases_by_change;
ALTER TABLE leases DROP COLUMN changed_at;
