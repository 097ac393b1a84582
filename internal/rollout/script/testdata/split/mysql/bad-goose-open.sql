-- +goose StatementBegin
SELECT 1;