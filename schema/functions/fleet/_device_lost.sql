-- Ends what runs on devices that are not there: the infrastructure broke it, not the test. The caller holds their PCs.
-- Returns what was ended.
create or replace function weir._device_lost(ids int[], reason text, t timestamptz)
returns table (task uuid, attempt int, why text)
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.running;
  ended uuid[] := '{}';
begin
  for r in with x as (delete from weir.running x where x.device = any (ids) returning x.*) select * from x
    order by x.task loop
    if weir._fleet_fail_infrastructure(r, reason, false, t) then
      ended := ended || r.task;
    end if;
    task := r.task; attempt := r.attempt; why := reason;
    return next;
  end loop;
  perform weir._after_end(ended, '{}', '{}', t);
end $$;
comment on function weir._device_lost is 'Ends attempts whose device is gone.';
