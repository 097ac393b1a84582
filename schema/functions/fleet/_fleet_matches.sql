-- Whether a device is in the target of a fleet job: all that the target names must hold.
create or replace function weir._fleet_matches(target jsonb, serial text, labels jsonb) returns boolean
language sql immutable parallel safe
as $$
  select (target -> 'devices' is null or target -> 'devices' ? serial)
    and (target -> 'labels' is null or labels @> (target -> 'labels'))
    and (target -> 'tag' is null or labels -> 'tag' = target -> 'tag')
    and (target -> 'match' is null or not exists (select from jsonb_array_elements_text(target -> 'match') m (c)
      where not weir._label_holds(m.c, labels)))
$$;
comment on function weir._fleet_matches is 'Is the device in the target?';
