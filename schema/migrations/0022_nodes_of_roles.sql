-- A node belongs to the database role that registered it, so that who may claim work may not rewrite the machines of
-- others.
-- +goose Up

alter table weir.nodes add column registered_by text collate "C";
comment on column weir.nodes.registered_by is
  'The role that registered the node and alone speaks for it, beside the owner of the schema. Null: nobody since that '
  'is noted; whoever is next.';
