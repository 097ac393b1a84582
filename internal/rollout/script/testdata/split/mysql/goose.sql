-- +goose StatementBegin
CREATE PROCEDURE p()
BEGIN
  SELECT 1;
END;
-- +goose StatementEnd
SELECT 2;