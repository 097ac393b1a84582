-- The rows of weir.fleet_why, with reasons as objects: code and arguments.
create or replace function weir._fleet_why(of_job uuid, most int, t timestamptz)
  returns table (device text, pc text, reason jsonb)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  j weir.fleet_jobs;
  checked boolean := (select f.health is not null from weir.fleet_policy f);
  counts jsonb;
begin
  select * into j from weir.fleet_jobs x where x.job = of_job;
  if not found then
    perform weir._not_found('fleet job', of_job::text);
  end if;
  select jsonb_agg(jsonb_build_object('code', 'count', 'n', x.n, 'state', x.state) order by x.nth) into counts from (
    select u.state, count(*) as n, array_position(
      array['running', 'retrying', 'waiting', 'done', 'failed', 'missed', 'canceled'], u.state) as nth
    from weir.fleet_units u where u.job = j.job group by u.state) x;
  if j.state = 'waiting' then
    return query select null::text, null::text, jsonb_build_object('counts', counts, 'first', (
        select jsonb_build_object('code', 'fleet_first', 'n', count(*)) from weir.fleet_jobs x
        where x.state = 'waiting' and x.lane = j.lane and (-x.priority, x.order_seq) < (-j.priority, j.order_seq)
        having count(*) > 0))
      || coalesce((select jsonb_build_object('code', 'fleet_waits', 'job', q.name,
        'lane', nullif(j.lane, 'default'),
        'since', weir._instant(x.activated_at))
        from weir.fleet_jobs x, lateral (select q.name from weir.jobs q where q.id = x.job offset 0) q
          where x.state = 'active' and x.lane = j.lane),
        jsonb_build_object('code', 'fleet_next'));
  else
    return query select null::text, null::text, jsonb_build_object('code', 'fleet_stands', 'stopped', j.stopped,
      'state', coalesce((select f.outcome::text from weir.job_finished f where f.job = j.job), j.state),
      'counts', coalesce(counts, '{"code": "fleet_empty"}'),
      'lingers', case when j.state = 'active' and j.lingers_at is not null then
        jsonb_build_object('code', 'fleet_lingers', 'since', weir._instant(j.lingers_at),
          'until', weir._instant(j.missed_at)) end);
  end if;
  return query
  select d.serial, n.name, case
    when u.state in ('missed', 'failed') then jsonb_build_object('code', 'unit_ended', 'state', u.state,
      'cause', u.cause)
    when u.device is null then jsonb_build_object('code', 'unit_open', 'excluded',
      case when u.excluded <> '{}' then jsonb_build_object('code', 'unit_excluded', 'n', cardinality(u.excluded)) end)
    else coalesce(a.reason,
      (select case when r.job = j.job then jsonb_build_object('code', 'device_round')
          when q.name is null then jsonb_build_object('code', 'device_checked')
            else jsonb_build_object('code', 'device_busy', 'job', q.name) end
        from weir.running r left join weir.jobs q on q.id = r.job where r.device = u.device),
      (select jsonb_build_object('code', 'unit_again', 'attempt', p.attempt, 'at', weir._instant(p.run_at))
        from weir.pending p where p.task = u.task),
      case when (select count(*) from weir.running r
        where r.node = d.node and r.device is not null) >= weir._pc_slots(p) then
        jsonb_build_object('code', 'pc_full', 'pc', n.name, 'slots', weir._pc_slots(p)) end,
      jsonb_build_object('code', 'pc_asks', 'pc', n.name)) end
    || coalesce(jsonb_build_object('answer', a.verdict, 'answer_at', weir._instant(a.at)), '{}')
  from weir.fleet_units u left join weir.devices d on d.id = u.device left join weir.nodes n on n.id = d.node
    left join weir.pcs p on p.node = d.node
    left join lateral weir._fleet_answer(u, j, checked, t) a on u.state in ('waiting', 'retrying')
  where u.job = j.job and u.state in ('waiting', 'retrying', 'missed', 'failed') order by u.unit limit most;
end $$;
comment on function weir._fleet_why is 'Why a fleet job is not further, with reasons for programs.';
