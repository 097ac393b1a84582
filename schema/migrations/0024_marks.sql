-- Looks begin where something can be, also behind gates, and a pool is counted without reading its holders
-- (docs/decisions/0019).
-- +goose Up

-- What came under -class since the class was marked: nothing that this transaction brought has a lower number than low.
create table weir.class_moves (
  class int not null,
  xid   bigint not null,
  low   bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index class_moves_class on weir.class_moves (class, xid);
comment on table weir.class_moves is 'What came under -class since the class was marked.';
alter table weir.classes add column opened_mark bigint not null default 0,
  add column opened_floor bigint not null default 0;
comment on column weir.classes.opened_mark is
  'What transactions below this id brought under -class is in opened_floor.';
comment on column weir.classes.opened_floor is
  'Nothing under -class has a lower number, but for what weir.class_moves says.';

-- What came to a pool or left it since the pool was marked: holders (held), and those who wait, none of which comes
-- before (priority, low).
create table weir.pool_moves (
  pool     text collate "C" not null,
  xid      bigint not null,
  held     int not null default 0,
  priority smallint,
  low      bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index pool_moves_pool on weir.pool_moves (pool, xid);
comment on table weir.pool_moves is 'What came to a pool or left it since the pool was marked.';
alter table weir.pools add column mark bigint not null default 0, add column held int,
  add column head_priority smallint, add column head bigint;
comment on column weir.pools.mark is 'What transactions below this id did is in held and head.';
comment on column weir.pools.held is
  'So many tasks are available or running, but for what weir.pool_moves says. Null: not counted yet.';
comment on column weir.pools.head is
  'Nobody waits before this number of head_priority, but for what weir.pool_moves says. Null: nobody waits.';
-- Transactions that are older than this one may still act by the functions from before, which say nothing of what they
-- move.
update weir.pools set mark = pg_current_xact_id()::text::bigint;

-- One comparison finds the place of a task in the line of its pool.
drop index weir.pending_pool;
create index pending_pool on weir.pending (pool, (-(priority::int)), order_seq, position) where gate = 'pool';

-- Their bodies are in schema/functions; a trigger needs a function to be there.
-- +goose StatementBegin
create function weir._came_to_class() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function weir._came_to_pool() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create trigger came_to_class after insert on weir.available for each row when (new.class < 0)
  execute function weir._came_to_class();
create trigger came_to_pool after insert or update on weir.pending
  for each row when (new.gate = 'pool' and new.pool is not null) execute function weir._came_to_pool();
