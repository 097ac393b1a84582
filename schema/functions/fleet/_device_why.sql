-- Why a device gets no work, apart from its PC and from what it does already; null: it is eligible. checked: there is a health task, which a device that nobody knows has to pass
-- first. A suspect device works: that is how evidence for or against it is found.
create or replace function weir._device_why(d weir.devices, checked boolean) returns text
language sql stable parallel safe
as $$
  select case
    when d.health in ('quarantined', 'maintenance', 'retired') then concat_ws(': ', format('%s since %s', d.health, to_char(d.health_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC')), d.health_note)
    when not d.online then format('offline since %s', to_char(d.online_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC'))
    when d.missing_at is not null then format('not seen since %s', to_char(d.missing_at at time zone 'UTC', 'HH24:MI:SS UTC'))
    when d.health = 'unknown' and checked then 'its health task comes first'
  end
$$;
comment on function weir._device_why is 'Why a device gets no work, or null.';
