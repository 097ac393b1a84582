-- The health task of a device: the first of the policy's by_label whose conditions its labels meet, or else the one for
-- all other devices. Null: there is none.
create or replace function weir._health_task(health jsonb, serial text, labels jsonb) returns jsonb
language sql immutable
as $$
  select coalesce((
    select h.task from jsonb_array_elements(health -> 'by_label') with ordinality h (task, nth)
    where weir._fleet_matches(jsonb_build_object('match', h.task -> 'match'), serial, labels)
    order by h.nth limit 1), health - 'by_label')
$$;
comment on function weir._health_task is 'The health task of a device.';
