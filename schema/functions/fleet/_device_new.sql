-- Registers devices that a PC reports for the first time. Jobs that let devices join while they run get units for them;
-- all others that wait see them when it is their turn.
create or replace function weir._device_new(n weir.nodes, fresh jsonb, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  ids int[];
  j weir.fleet_jobs;
begin
  with i as (
    insert into weir.devices (serial, node, hub, target, labels, online, online_at, health_at, check_at, registered_at)
    select s.serial, n.id, s.hub, s.target, coalesce(nullif(s.labels, 'null'), '{}'), true, t, t, t, t
    from jsonb_to_recordset(fresh) s (serial text, target text, hub text, labels jsonb) order by s.serial
    on conflict (serial) do nothing returning id, serial
  ), e as (
    insert into weir.events (at, type, kind, subject, message)
    select t, 'registered', 'device', i.serial, 'at ' || n.name from i
  )
  select array_agg(i.id) into ids from i;
  if ids is null then
    return;
  end if;
  for j in select * from weir.fleet_jobs x
    where x.state <> 'ended' and x.planned_at is not null and x.joins and x.stopped is null and not x.spec ? 'any'
    order by x.job loop
    perform weir._fleet_add_devices(j, ids, t);
  end loop;
  perform pg_notify('weir_available', 'fleet');
end $$;
comment on function weir._device_new is 'Registers devices.';
