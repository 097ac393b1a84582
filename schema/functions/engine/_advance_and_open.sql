-- Lets pending tasks go on from a gate that somebody just opened, and tells the workers of what became available.
create or replace function weir._advance_and_open(ids uuid[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  step record;
begin
  select * into step from weir._advance(ids, t);
  if step.opened > 0 then
    perform pg_notify('weir_available', '');
  end if;
  perform weir._after_end('{}', step.lanes, step.pools, t);
end $$;
comment on function weir._advance_and_open is 'Steps tasks to their next closed gate and through it if it is open.';
