-- An idempotency key stands for one body of one subject. What was written before has no body: it stands for whatever is
-- sent with it, by whomever.
-- +goose Up

alter table weir.idempotency add column body bytea;
comment on column weir.idempotency.key is
  'user:ID/KEY for who asks a server, role:NAME/KEY for a role of the database, KEY alone for the owner of the schema.';
comment on column weir.idempotency.body is
  'SHA-256 of what was asked for. Null: nobody noted it, and anything is the same.';
