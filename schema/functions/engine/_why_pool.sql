-- The pool's line of weir.why: full (who holds it longest, since when), stopped, its rate spent, gone, or open. The
-- pool of a map is the limit of its step.
create or replace function weir._why_pool(pool_name text, p weir.pending, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  l weir.pools;
  opened int;
  used int;
  started int;
  b record;
  step text := (select q.key from weir.tasks q
    where q.id = case when pool_name ~ '^map:[0-9a-f]{8}-[0-9a-f-]{27}$' then substr(pool_name, 5)::uuid end);
  -- Which pool is meant stands in every reason.
  what jsonb := case when step is null then jsonb_build_object('pool', pool_name)
    else jsonb_build_object('step', step) end;
begin
  select * into l from weir.pools x where x.name = pool_name;
  select count(*) into opened from weir.available a where a.pool = pool_name;
  select opened + count(*) into used from weir.running r where r.pool = pool_name;
  select coalesce(sum(s.n), 0) into started from weir.starts s where s.pool = pool_name and s.at > t - l.per;
  select x.* into b from (
    select a.task, a.opened_at as since from weir.available a where a.pool = pool_name
    union all select r.task, r.claimed_at from weir.running r where r.pool = pool_name order by 2 limit 1) x;
  if l.name is null then
    return query select 'pool', true, what || jsonb_build_object('code', 'pool_gone'), null::uuid, null::timestamptz;
  elsif p.task is null then
    return query select 'pool', true, what || jsonb_build_object('code', 'pool_placed'), null::uuid, null::timestamptz;
  elsif p.gate = 'pool' and exists (select from weir._hidden h where h.task = p.task and h.pool = pool_name) then
    return query select 'floor', false, what || jsonb_build_object('code', 'pool_hidden'), null::uuid, p.since;
  elsif l.size = 0 then
    return query select 'pool', false, what || jsonb_build_object('code', 'pool_stopped'), null::uuid, l.resized_at;
  elsif used >= l.size then
    return query select 'pool', false, what || jsonb_build_object('code', 'pool_full', 'used', used, 'size', l.size),
      b.task, b.since;
  elsif opened + started >= l.rate and started = 0 then
    return query select 'pool', false, what || jsonb_build_object('code', 'rate_reserved', 'rate', l.rate, 'per',
      weir._seconds(l.per), 'opened', opened),
      b.task, p.since;
  elsif opened + started >= l.rate then
    return query select 'pool', false, what || jsonb_build_object('code', 'rate_spent', 'rate', l.rate, 'per',
      weir._seconds(l.per),
      'next', weir._seconds(weir._rate_room_at(pool_name, l.per, t) - t)), null::uuid, p.since;
  else
    return query select 'pool', p.gate <> 'pool', what || jsonb_build_object('code', 'pool_room', 'used', used,
        'size', coalesce(to_jsonb(l.size), '"unlimited"'), 'holder', case
          when p.gate = 'pool' then weir._key_holder(false, pool_name) end),
      null::uuid, case when p.gate = 'pool' then p.since end;
  end if;
end $$;
comment on function weir._why_pool is 'Why a task waits at its pool.';
