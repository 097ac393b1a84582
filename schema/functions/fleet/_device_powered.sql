-- Whether a power command may be switching a device off and on right now: it is the set-up of the health task that runs
-- on it (weir._fleet_lease_checks). Until that ends, it is no news that the device is away.
create or replace function weir._device_powered(of_device int) returns boolean
language sql stable
set search_path = weir, pg_temp
as $$
  select exists (
    select from weir.running r, lateral (select from weir.tasks q where q.id = r.task and q.run ? 'power' offset 0) q
    where r.device = of_device and r.job is null)
$$;
comment on function weir._device_powered is 'Does a health task with a power command run on a device?';
