-- Deletes a pool. Refused while tasks use it, unless force: a pool that is gone limits nothing, so they go on. A new
-- pool of the same name counts those that still run.
create or replace function weir.drop_pool(name text, force boolean default false, by text default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(drop_pool.at);
  waits int;
  holds int;
begin
  if not exists (select from weir.pools p where p.name = drop_pool.name) then
    perform weir._not_found('pool', drop_pool.name, hint => null);
  end if;
  perform weir._hold_keys(array[drop_pool.name], false);
  select count(*) into waits from weir.pending p where p.pool = drop_pool.name;
  select (select count(*) from weir.available a where a.pool = drop_pool.name)
    + (select count(*) from weir.running r where r.pool = drop_pool.name)
  into holds;
  if waits + holds > 0 and not force then
    perform weir._conflict('pool %L is in use: %s tasks wait for it, %s hold it',
      jsonb_build_array(drop_pool.name, waits, holds),
      hint => 'let them end, or force: they then go on without a pool');
  end if;
  delete from weir.starts s where s.pool = drop_pool.name;
  delete from weir.pools p where p.name = drop_pool.name;
  insert into weir.events (at, type, kind, subject, source) values (t, 'dropped', 'pool', drop_pool.name, drop_pool.by);
  if weir._open_pools(array[drop_pool.name], null, t) > 0 then
    perform pg_notify('weir_available', '');
  end if;
end $$;
comment on function weir.drop_pool is 'Deletes a pool.';
