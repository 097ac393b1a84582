-- The clean-up after an attempt on a device failed. It is said while the attempt is held, before its end, and does not
-- change how the attempt ends: when the lease ends, the device becomes suspect (weir._device_unclean). The same again
-- changes nothing. Returns ok, or lease_lost for an attempt that is over.
create or replace function weir.fleet_unclean(task uuid, attempt int, token uuid, error text)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  perform from weir.running r
  where r.task = fleet_unclean.task and r.attempt = fleet_unclean.attempt and r.token = fleet_unclean.token
    and r.device is not null
  for no key update;
  if not found then
    return 'lease_lost';
  end if;
  update weir.fleet_units u
  set unclean = left(weir._text(coalesce(nullif(fleet_unclean.error, ''), 'no reason given')), 2000)
  where u.task = fleet_unclean.task;
  return 'ok';
end $$;
comment on function weir.fleet_unclean is 'The clean-up after an attempt on a device failed.';
