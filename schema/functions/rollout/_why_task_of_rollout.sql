-- What a run of a rollout waits for inside the database that it changes. See weir._why_of.
create or replace function weir._why_task_of_rollout(of_task uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'database', false, jsonb_build_object('code', 'run_waits', 'says', g.says), null::uuid, g.says_since
  from weir.running r join weir.rollout_runs g on g.task = r.task and g.attempt = r.attempt
  where r.task = of_task and g.says is not null
$$;
comment on function weir._why_task_of_rollout is 'What a run of a rollout waits for.';
