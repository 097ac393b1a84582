-- Rollouts that live hold what they promise. Each row is bounded by what runs, may run or lives now; a task is looked
-- up by its id.
create or replace function weir._doctor_rollouts(t timestamptz)
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  live uuid[] := array(select l.job from weir.job_live l where l.watched);
  facts jsonb := case when cardinality(live) > 0 then weir._rollout_facts(live) else '[]' end;
  stages jsonb := (select coalesce(jsonb_agg(s), '[]') from weir._rollout_stages(facts) s);
begin
  return query select * from weir._doctor('a database has one exclusive run at a time', array(
    select format('database %s has %s', x.database, string_agg(r.task::text, ' and '))
    from weir.running r, lateral (select x.database from weir.rollout_tasks x where x.task = r.task offset 0) x
    group by x.database having bool_or(r.exclusive) and count(*) > 1));

  return query select * from weir._doctor('no version runs before a lower one that is open', array(
    select format('%s goes before %s', h.task, l.task) from weir._lane_holder h, lateral (
      select p.task, p.since as at from weir.pending p where p.lane = h.lane and p.rank < h.rank and p.gate <> 'pool'
      union all select b.task, b.at from weir.lane_blocks b where b.lane = h.lane and b.rank < h.rank
      union all select o.task, o.opened_at from weir._lane_holder o where o.lane = h.lane and o.rank < h.rank
    ) l
    where h.state in ('running', 'available') and exists (select from weir.rollout_tasks x where x.task = h.task)
      -- One that came or was retried after the higher one had passed its lane is late, not overtaken.
      and l.at < h.opened_at and l.at < weir._lane_since(h.task, h.opened_at)));

  return query select * from weir._doctor('no rollout runs more at once than it may', array(
    select format('rollout %s: %s of %s', r.job, x.n, r.plan ->> 'parallel') from weir.rollouts r, lateral (
      select count(*) as n from (
        select a.task, a.opened_at from weir.available a where a.pool = 'rollout/' || r.job
        union all select g.task, g.opened_at from weir.running g where g.pool = 'rollout/' || r.job
      ) o
      where not exists (select from weir.forgiven f where f.task = o.task)
        and o.opened_at > coalesce((select p.resized_at from weir.pools p where p.name = 'rollout/' || r.job),
          '-infinity')
    ) x where r.job = any (live) and x.n > nullif((r.plan ->> 'parallel')::int, 0)));

  return query select * from weir._doctor('the holds of rollouts are what they should be', array(
    select format('rollout %s: %s tasks have %s instead of %s', w.rollout, w.n,
      coalesce(quote_literal(weir._sentence(w.hold)), 'no hold'),
      coalesce(quote_literal(weir._sentence(w.want)), 'none'))
    from weir._rollout_hold_changes(facts, stages) w));

  return query select * from weir._doctor('a run that nobody knows of is asked about', array(
    select format('attempt %s of %s is UNKNOWN, and nobody will look', g.attempt, g.task) from weir.rollout_runs g
    where g.unknown and g.look_at is null
    union all
    select format('attempt %s of %s is UNKNOWN, and its task goes on', g.attempt, g.task) from weir.rollout_runs g
    where g.unknown and not exists (select from weir.finished f where f.task = g.task)
      and not exists (select from weir.running r where r.task = g.task and r.attempt = g.attempt)));

  return query select * from weir._doctor('a rollout stands as its tasks do', array(
    select format('rollout %s is %s, its tasks say %s', r.job, r.state, array_to_string(x.states, ' or '))
    from weir.rollouts r
    left join lateral (select s.stopped
      from jsonb_to_recordset(stages) s (rollout uuid, n smallint, complete boolean, stopped jsonb)
      where s.rollout = r.job and not s.complete order by s.n limit 1) s
      on true,
    lateral (select case when r.aborted_at is not null then '{canceled}' when r.started_at is null then '{not_started}'
        when r.paused_at is not null then '{paused,done}'
      when s.stopped is not null then '{failed}' else '{running,waiting,done}' end::text[] as states) x
    where r.job = any (live) and r.state <> all (x.states)));

  return query select * from weir._doctor('nobody has to say what became of a run', array(
    select format('%s of rollout %s may have been applied (%s): it is asked again at %s, or say which: weir rollout '
      'resolve %s --applied or --not-applied',
      k.key, x.rollout, coalesce(g.note, 'its executor was lost'),
      to_char(g.look_at at time zone 'UTC', 'HH24:MI:SS UTC'), g.task)
    from weir.rollout_runs g
    join weir.rollout_tasks x on x.task = g.task,
      lateral (select q.key from weir.tasks q where q.id = g.task offset 0) k
    where g.unknown and g.ended_at < t - interval '60 s'), 'health');
end $$;
comment on function weir._doctor_rollouts is 'Invariants of rollouts, and what a person has to decide.';
