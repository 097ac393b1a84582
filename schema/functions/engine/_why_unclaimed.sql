-- Why an available task has not been taken: the floor of its class hides it, nobody serves it, the node that does
-- sleeps, no node that does may claim or is able to (weir.node_faults), or others come first.
create or replace function weir._why_unclaimed(q weir.tasks, c weir.classes, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  opened timestamptz := coalesce((select a.opened_at from weir.available a
    where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position),
      weir._id_time(q.id));
  -- What it asks for stands in most reasons.
  what jsonb := jsonb_build_object('service', c.service,
    'labels', (select string_agg(k || '=' || v, ',' order by k) from jsonb_each_text(c.labels) l (k, v)));
  hidden bigint;
  able int;
  idle int;
  broken int;
  ahead int;
  blocked record;
begin
  select h.floor into hidden from weir._hidden h where h.class in (q.class, -q.class) and h.order_seq = q.order_seq
    and h.task = q.id;
  if found then
    return query select 'floor', false, jsonb_build_object('code', 'floor_hidden', 'number', q.order_seq,
      'floor', hidden), null::uuid, opened;
    return;
  end if;
  select count(*), count(*) filter (
    where coalesce(n.mode, 'active') <> 'active' and coalesce(n.mode_until, 'infinity') > t), count(*) filter (
    where (n.mode = 'active' or n.mode_until <= t) and f.node is not null) into able, idle, broken
  from weir.workers w left join weir.nodes n on n.id = w.node
  left join weir.node_faults f on f.node = n.id and f.service = c.service
  where c.service = any (w.services)
    and c.labels <@ (w.labels || coalesce(n.labels || jsonb_build_object('node', n.name), '{}'))
    and w.stopped_at is null and w.seen_at > t - interval '30 s'
    and (n.id is null or n.wake_state not in ('waking', 'asleep') or weir._awake(n, t));
  if able = 0 then
    select * into blocked from weir._why_asleep(c.service, c.labels, t);
    if blocked.reason ->> 'code' = 'node_waking' then
      return query select 'worker', false, blocked.reason, null::uuid, blocked.since;
    else
      return query select 'worker', false, what || jsonb_build_object('code', 'no_worker', 'node', blocked.reason),
        null::uuid, opened;
    end if;
  elsif able = idle + broken then
    select jsonb_agg(case when x.mode <> 'active' and coalesce(x.mode_until, 'infinity') > t then
        jsonb_build_object('code', 'node_mode', 'name', x.name, 'mode', x.mode, 'note', x.note,
          'until', weir._instant(x.mode_until))
      else jsonb_build_object('code', 'node_fault', 'name', x.name, 'fault', x.fault, 'message', x.message,
        'retry', weir._instant(x.retry_at)) end
      order by x.mode_at, x.name) as nodes, max(greatest(x.mode_at, x.since)) as since
    into blocked from (
      select distinct n.name, n.mode, n.note, n.mode_until, n.mode_at, f.fault, f.message, f.retry_at, f.since
      from weir.workers w join weir.nodes n on n.id = w.node
      left join weir.node_faults f on f.node = n.id and f.service = c.service
      where c.service = any (w.services) and c.labels <@ (w.labels || n.labels || jsonb_build_object('node', n.name))
        and w.stopped_at is null and w.seen_at > t - interval '30 s') x;
    return query select 'worker', false, what || jsonb_build_object('code',
      case when broken > 0 then 'node_broken' else 'node_drained' end, 'nodes', blocked.nodes),
      null::uuid, blocked.since;
  else
    select count(*) into ahead from (
      select from weir.available a join weir.classes o on o.id = abs(a.class)
      where o.service = c.service and exists (select from weir.workers w left join weir.nodes n on n.id = w.node
          where c.service = any (w.services)
            and (c.labels || o.labels) <@ (w.labels || coalesce(n.labels || jsonb_build_object('node', n.name), '{}'))
            and c.labels || o.labels @> c.labels and w.stopped_at is null and w.seen_at > t - interval '30 s')
        and (o.priority > c.priority or o.priority = c.priority
          and (a.order_seq, a.position) < (q.order_seq, q.position)) limit 1000) x;
    return query select 'worker', true, what || jsonb_build_object('code', 'queued', 'n', able - idle - broken,
      'ahead', case when ahead = 1000 then '{"code": "over", "n": 1000}'::jsonb else to_jsonb(ahead) end), null::uuid,
        opened;
  end if;
end $$;
comment on function weir._why_unclaimed is 'Why an available task has not started.';
