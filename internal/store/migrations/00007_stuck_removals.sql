-- +goose Up
-- When a removal was first called stuck, in microseconds since 1970, UTC; 0 for never.
ALTER TABLE previews ADD COLUMN stuck_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE previews DROP COLUMN stuck_at;
