-- +goose Up
-- What tells this state from others, in the marks of what is made elsewhere.
CREATE TABLE installation (
    one INTEGER NOT NULL PRIMARY KEY,  -- always 1
    id  TEXT    NOT NULL
);

-- +goose Down
DROP TABLE installation;
