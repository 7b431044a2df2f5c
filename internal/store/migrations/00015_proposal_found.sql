-- +goose Up
-- What a proposal makes of the manifests, and how the environment was at the
-- time, as JSON.
ALTER TABLE proposals ADD COLUMN rendered TEXT NOT NULL DEFAULT 'null';
ALTER TABLE proposals ADD COLUMN state_then TEXT NOT NULL DEFAULT 'null';

-- +goose Down
ALTER TABLE proposals DROP COLUMN rendered;
ALTER TABLE proposals DROP COLUMN state_then;
