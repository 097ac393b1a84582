-- What a fleet job waits for that is not planned yet. See weir._why_of.
create or replace function weir._why_job_of_fleet(of_job uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'fleet', false, w.reason, null::uuid, j.created_at
  from weir.jobs j, weir._fleet_why(of_job, 1, t) w where j.id = of_job and w.device is null limit 1
$$;
comment on function weir._why_job_of_fleet is 'What a fleet job waits for.';
