-- Devices that were missing for 30 s are offline. The caller has ended what ran on them (weir._device_lost).
create or replace function weir._device_gone(ids int[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  perform from weir.devices d where d.id = any (ids) order by d.id for update;
  with u as (
    update weir.devices d
    set online = false, online_at = coalesce(d.missing_at, t), absent_at = coalesce(d.missing_at, t), missing_at = null
    where d.id = any (ids) and d.online returning d.serial, d.online_at
  )
  insert into weir.events (at, type, kind, subject, message)
  select t, 'offline', 'device', u.serial,
    format('not seen since %s', to_char(u.online_at at time zone 'UTC', 'HH24:MI:SS UTC'))
  from u order by u.serial;
end $$;
comment on function weir._device_gone is 'online → offline for devices that stayed away.';
