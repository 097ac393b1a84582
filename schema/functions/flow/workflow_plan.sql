-- What the planner decided about tasks that stand at the gate plan, many in one call. Each object has task, job, do and
-- what that needs:
--   plan     params, labels, run, hold, delay, patience: it goes on; ask says what it is held for (weir.asks)
-- end      outcome, result, cause, passes: it ends without running; tolerate, its items that failed, count as skipped
-- from then on   map      tasks, patience: it waits for these tasks of its job; reuse are those of them (at the gate
-- plan) that end as they did in the job that this one repeats   child    name, definition, priority, options, params,
-- key, trace: it waits for that job A task that is not there any more is left alone. The jobs are locked first, in the
-- order of their ids, so that a finish that touches several never waits for us in a ring.
create or replace function weir.workflow_plan(plans jsonb, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_plan.at);
  done int := 0;
  did boolean;
  p record;
begin
  perform from weir.job_live l
  where l.job = any (array(select (e ->> 'job')::uuid from jsonb_array_elements(workflow_plan.plans) e)) order by l.job
  for update;
  for p in select x.*
    from jsonb_to_recordset(workflow_plan.plans) x (task uuid, job uuid, "do" text, params jsonb, labels jsonb,
      run jsonb, hold text, delay interval, outcome text, result jsonb, cause text,
    passes boolean, tolerate uuid[], tasks jsonb, reuse text[], patience jsonb, name text, definition uuid,
    priority int, options jsonb, key text, trace text, ask jsonb)
    order by x.job, x.task loop
    continue when not exists (select from weir.pending w join weir.job_live l on l.job = w.job
      where w.task = p.task and w.gate = 'plan'
        and (l.cancel_at is null or w.rule = 'finally' and l.stop_at is null));
    perform weir._check(weir._bad_span('delay', p.delay, true));
    case p.do
      when 'plan' then
        if p.patience is not null then
          perform weir._set_wait_limits(p.job, p.patience);
        end if;
        did := weir.plan_task(p.task, params => p.params, labels => p.labels, run => p.run, hold => p.hold,
          run_at => t + p.delay, at => t);
        if did and p.ask is not null then
          perform weir._ask(p.task, p.job, p.ask);
          perform weir._give_signals(p.job, t);
        end if;
      when 'end' then
        perform weir.skip(f.task, 'tolerated: ' || f.cause, 'workflow', at => t)
        from unnest(p.tolerate) i (task), lateral (select * from weir.finished f where f.task = i.task offset 0) f;
        did := weir.decide(p.task, p.outcome, result => p.result, cause => p.cause, passes => coalesce(p.passes, false),
          at => t);
      when 'map' then
        perform weir._map_pools(array(select distinct e ->> 'pool' from jsonb_array_elements(p.tasks) e), t);
        perform from weir.add_tasks(p.job, p.tasks, at => t);
        if p.reuse is not null then
          perform weir._reuse_outcomes(p.job, p.reuse, t);
        end if;
        if p.patience is not null then
          perform weir._set_wait_limits(p.job, p.patience);
        end if;
        did := weir.wait_for(p.task, array(select e ->> 'key' from jsonb_array_elements(p.tasks) e), at => t);
      when 'child' then
        perform weir.open_job(p.name, kind => 'workflow', priority => p.priority, params => p.params,
          idempotency_key => p.key, trace => p.trace, definition => p.definition,
          parent => p.task, options => p.options, at => t);
        did := true;
    end case;
    done := done + did::int;
  end loop;
  return done;
end $$;
comment on function weir.workflow_plan is 'Carries out what the planner decided.';
