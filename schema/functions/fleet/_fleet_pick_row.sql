-- A pick of a PC: a unit with the device that is to serve it, as a row that is not written. Without a job it is a
-- health task. The columns by name, as in weir._finished_row.
create or replace function weir._fleet_pick_row(job uuid, unit int, device int, task uuid) returns weir.fleet_units
language sql immutable
as $$
  select row(job, unit, device, 0, case when task is null then 'waiting' else 'retrying' end, task, '{}', 0, null, null,
    null, null)::weir.fleet_units
$$;
comment on function weir._fleet_pick_row is 'A unit that a device could serve.';
