-- Whether a person has a device for himself, so that a forward to it disturbs no run: he reserved it, or it is in
-- maintenance and no other person reserved it. What ended by itself counts as ended at its time, before
-- weir.fleet_tend has written that.
create or replace function weir._forward_held(d weir.devices, person text, t timestamptz) returns boolean
language sql stable parallel safe
as $$
  select case when d.reserved_until > t then d.reserved_by = person
    else d.health = 'maintenance' and coalesce(d.health_until, 'infinity') > t end
$$;
comment on function weir._forward_held is 'Whether a person has a device for himself.';
