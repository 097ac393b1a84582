-- What the engine knows of the definitions of jobs: enough to check a schedule and to wake a node for what is not built
-- yet.
create or replace view weir._definition as
select w.id, w.name, w.version, w.active, w.deleted_at is null as kept from weir.workflows w;
comment on view weir._definition is 'The definitions that jobs may have.';
