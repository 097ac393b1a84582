-- How an agent runs a unit of a fleet job: the run of its spec, with the commands before and after it.
create or replace function weir._fleet_run(spec jsonb) returns jsonb
language sql immutable
as $$
  select case when spec ?| array['setup', 'cleanup']
    then spec -> 'run' || jsonb_strip_nulls(jsonb_build_object('setup', spec -> 'setup', 'cleanup', spec -> 'cleanup'))
    else spec -> 'run' end
$$;
comment on function weir._fleet_run is 'The run of a fleet job with its set-up and clean-up.';
