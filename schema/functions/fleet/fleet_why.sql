-- Why a fleet job is not further: first a row without a device that says it in one line, then a row per unit that waits, failed or was missed, with the device, its PC and the reason.
create or replace function weir.fleet_why(job uuid, most int default 500, at timestamptz default null) returns table (device text, pc text, why text)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_why.at);
  j weir.fleet_jobs;
  checked boolean := (select f.health is not null from weir.fleet_policy f);
  counts text;
  ahead record;
begin
  select * into j from weir.fleet_jobs x where x.job = fleet_why.job;
  if not found then
    perform weir._not_found('fleet job', fleet_why.job::text);
  end if;
  select string_agg(format('%s %s', x.n, x.state), ', ' order by x.nth) into counts from (
    select u.state, count(*) as n, array_position(array['running', 'retrying', 'waiting', 'done', 'failed', 'missed', 'canceled'], u.state) as nth from weir.fleet_units u where u.job = j.job group by u.state) x;
  if j.state = 'waiting' then
    select x.job, q.name, x.activated_at into ahead from weir.fleet_jobs x, lateral (select q.name from weir.jobs q where q.id = x.job offset 0) q where x.state = 'active';
    return query select null::text, null::text, concat_ws('; ', coalesce(format('waits: %s is active since %s', ahead.name, to_char(ahead.activated_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC')), 'waits: it will be active at once'),
      (select format(case count(*) when 1 then '%s fleet job comes first' else '%s fleet jobs come first' end, count(*)) from weir.fleet_jobs x where x.state = 'waiting' and (-x.priority, x.order_seq) < (-j.priority, j.order_seq) having count(*) > 0), counts);
  else
    return query select null::text, null::text, concat_ws('; ', format('%s: %s', coalesce((select f.outcome::text from weir.job_finished f where f.job = j.job), j.state), coalesce(counts, 'no device matches its target')), j.stopped,
      case when j.state = 'active' and j.lingers_at is not null then format('no device can serve the rest since %s, it is missed at %s', to_char(j.lingers_at at time zone 'UTC', 'HH24:MI:SS UTC'),
        to_char((j.lingers_at + j.linger) at time zone 'UTC', 'HH24:MI:SS UTC')) end);
  end if;
  return query
  select d.serial, n.name, case
    when u.state in ('missed', 'failed') then coalesce(u.state || ': ' || u.cause, u.state)
    when u.device is null then concat_ws(', ', 'any device of the target may serve it', case when u.excluded <> '{}' then format(case cardinality(u.excluded) when 1 then 'but not the one that it was on' else 'but not the %s that it was on or beside' end, cardinality(u.excluded)) end)
    else coalesce(weir._fleet_unit_why(u.device, checked, t),
      (select case when r.job = j.job then 'another round runs on it' else format('busy with %s', coalesce((select q.name from weir.jobs q where q.id = r.job), 'its health task')) end from weir.running r where r.device = u.device),
      (select format('attempt %s failed, the next one not before %s', p.attempt, to_char(p.run_at at time zone 'UTC', 'HH24:MI:SS UTC')) from weir.pending p where p.task = u.task),
      case when (select count(*) from weir.running r where r.node = d.node and r.device is not null) >= weir._pc_slots(p) then format('all %s slots of %s are taken', weir._pc_slots(p), n.name) end,
      format('waits until %s asks for work', n.name)) end
  from weir.fleet_units u left join weir.devices d on d.id = u.device left join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = d.node
  where u.job = j.job and u.state in ('waiting', 'retrying', 'missed', 'failed') order by u.unit limit most;
end $$;
comment on function weir.fleet_why is 'Why a fleet job is not further: in one line, and per device.';
