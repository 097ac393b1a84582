-- The span of a device ends and the next begins, if it is in another state or at another PC. The order of states is
-- that of weir._device_reason. A span never begins before the last one did. The caller holds the row of the device.
create or replace function weir._device_spanned(d weir.devices, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  most constant int := 2000;
  is_now text := case when d.health in ('quarantined', 'maintenance', 'retired') then d.health
    when d.reserved_by is not null then 'reserved' when not d.online then 'offline' else 'free' end;
  last weir.device_spans;
begin
  select * into last from weir.device_spans s where s.device = d.id and s.until is null;
  if last.state = is_now and last.node is not distinct from d.node then
    return;
  end if;
  if t <= last.since then
    -- The last one lasted no time.
    update weir.device_spans s set state = is_now, node = d.node where s.device = d.id and s.until is null;
    return;
  end if;
  update weir.device_spans s set until = t where s.device = d.id and s.until is null;
  insert into weir.device_spans (device, since, state, node) values (d.id, t, is_now, d.node);
  delete from weir.device_spans s where s.device = d.id and s.since < (
    select x.since from weir.device_spans x where x.device = d.id order by x.since desc offset most - 1 limit 1);
end $$;
comment on function weir._device_spanned is 'A device is in another state.';
