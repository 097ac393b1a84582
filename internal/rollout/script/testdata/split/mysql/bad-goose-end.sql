SELECT 1;
-- +goose StatementEnd
