-- How much longer than its own timeout a run of a fleet job may take, because commands run before and after it: their
-- timeouts, and 10 s to kill one that does not end and to report it. The agent counts in the same way.
create or replace function weir._fleet_around(spec jsonb) returns interval
language sql immutable
as $$
  select coalesce(sum(coalesce((c.value ->> 'timeout')::interval, '5 min')) + interval '10 s', '0')
  from jsonb_each(jsonb_build_object('setup', spec -> 'setup', 'cleanup', spec -> 'cleanup')) c
  where c.value <> 'null'
$$;
comment on function weir._fleet_around is 'The time for the set-up and the clean-up of a run.';
