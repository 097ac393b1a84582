-- Makes the holds of a rollout what they should be, and writes down how it stands. It looks at what is, not at what
-- happened, so it may be called at any time, and writes nothing when nothing changed. The caller holds the job, and
-- opens the lanes and pools that it returns.
create or replace function weir._rollout_settle(id uuid, t timestamptz, out changed int, out lanes text[],
  out pools text[])
language plpgsql
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  r weir.rollouts;
  facts jsonb;
  stages jsonb;
  wants jsonb;
  want record;
  free uuid[];
  was record;
  p weir.pending;
  step record;
begin
  changed := 0; lanes := '{}'; pools := '{}';
  select * into r from weir.rollouts x where x.job = _rollout_settle.id;
  facts := weir._rollout_facts(array[r.job]);
  perform weir._rollout_mark_lost(r, facts, t);
  if r.aborted_at is not null then
    -- What was given up keeps no version waiting, but for what may have been applied.
    with d as (
      delete from weir.lane_blocks b using weir.rollout_tasks x
      where x.rollout = r.job and b.task = x.task
        and not exists (select from weir.rollout_runs g where g.task = x.task and g.unknown)
      returning b.lane
    ) select lanes || coalesce(array_agg(distinct d.lane), '{}') into lanes from d;
  end if;
  stages := (select coalesce(jsonb_agg(s), '[]') from weir._rollout_stages(facts) s);

  wants := (select jsonb_agg(to_jsonb(w) || jsonb_build_object('said', weir._sentence(w.want)))
    from weir._rollout_hold_changes(facts, stages) w);
  if wants is not null then
    select array_agg(w.task) filter (where w.state = 'waiting' and w.want is not null) as held,
      array_agg(w.want) filter (where w.state = 'waiting' and w.want is not null) as reasons,
      array_agg(w.said) filter (where w.state = 'waiting' and w.want is not null) as texts,
      array_agg(w.task) filter (where w.state = 'waiting' and w.want is null) as free,
      array_agg(w.task) filter (where w.state = 'available') as back,
      array_agg(w.want) filter (where w.state = 'available') as back_reasons,
      array_agg(w.said) filter (where w.state = 'available') as back_texts
      into want from weir._rollout_tasks_to_change(r.job, wants) w;
    if want.held is not null then
      with u as (
        update weir.pending p
        set hold = w.said, hold_reason = w.want,
          gate = case when p.gate in ('lane', 'pool') then 'hold' else p.gate end,
          since = case when p.gate in ('lane', 'pool', 'hold') then t else p.since end
        from unnest(want.held, want.reasons, want.texts) w (task, want, said),
          lateral (select o.gate from weir.pending o where o.task = w.task offset 0) o
        where p.task = w.task returning p.lane, p.pool, o.gate
      )
      select lanes
        || coalesce(array_agg(distinct u.lane) filter (where u.gate in ('lane', 'pool') and u.lane is not null), '{}'),
          pools || coalesce(array_agg(distinct u.pool) filter (where u.gate = 'pool'), '{}'), changed + count(*)
          into lanes, pools, changed from u;
    end if;
    if want.free is not null then
      update weir.pending p set hold = null, hold_reason = null where p.task = any (want.free);
      free := array(select p.task from weir.pending p where p.task = any (want.free) and p.gate = 'hold' order by 1);
      select * into step from weir._advance(free, t);
      lanes := lanes || coalesce(step.lanes, '{}');
      pools := pools || coalesce(step.pools, '{}');
      changed := changed + cardinality(want.free);
    end if;
    for i in 1 .. coalesce(cardinality(want.back), 0) loop
      select * into was from weir._remove_waiting(want.back[i]);
      continue when was.was is null;
      p := was.p;
      insert into weir.events (at, type, attempt, job, task, source, message, data)
      values (t, 'held', p.attempt, r.job, p.task, 'rollout', want.back_texts[i],
        case when was.was = 'available' then jsonb_build_object('opened_at', p.since) end);
      p.hold := want.back_texts[i];
      p.hold_reason := want.back_reasons[i];
      p.gate := 'hold';
      p.since := t;
      insert into weir.pending select p.*;
      lanes := lanes || array_remove(array[p.lane], null);
      pools := pools || array_remove(array[p.pool], null);
      changed := changed + 1;
    end loop;
  end if;
  perform weir._rollout_write_state(r, stages, t);
end $$;
comment on function weir._rollout_settle is
  'Holds and releases the tasks of a rollout as its gates say. Returns how many changed, and the keys to open.';
