-- Explains and records the calls of a worker that its leases do not cover. A stale token changes nothing but the
-- timeline, which holds its hash: a claim has one token for all its tasks, so the others of it may be live. A number
-- that no attempt can have is that of a lease that never was: only the message tells it.
create or replace function weir._refuse(op text, tasks uuid[], attempts int[], tokens uuid[], accepted uuid[],
  accepted_attempts int[], t timestamptz)
returns table (task uuid, refusal text, attempt int)
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
begin
  return query
  with g as (
    select g.task, g.attempt, g.token, q.job, case
      when q.id is null then 'unknown'
      when op = 'finish'
        and exists (select from weir.finished f
          where f.task = g.task and f.attempt = g.attempt and f.outcome = 'done') then
          'repeated'
      when op = 'fail'
        and exists (select from weir.events e
          where e.task = g.task and e.attempt = g.attempt and e.type in ('retrying', 'failed')) then
          'repeated'
      when op in ('snooze', 'give_back')
        and exists (select from weir.events e
          where e.task = g.task and e.attempt = g.attempt and e.type in ('snoozed', 'returned')) then
          'repeated'
      when op = 'confirm_cancel'
        and exists (select from weir.finished f
          where f.task = g.task and f.attempt = g.attempt and f.outcome = 'canceled') then
          'repeated'
      else 'lease_lost' end as refusal
    from unnest(_refuse.tasks, attempts, tokens) g (task, attempt, token)
    left join lateral (select q.id, q.job from weir.tasks q where q.id = g.task offset 0) q on true
    where not exists (select from unnest(accepted, accepted_attempts) a (task, attempt)
      where a.task = g.task and a.attempt = g.attempt)
  ), e as (
    insert into weir.events (at, type, job, task, attempt, level, message, data)
    select t, 'stale', g.job, g.task, case when g.attempt between -32768 and 32767 then g.attempt end, 'warn',
      format('%s refused: the lease of attempt %s is over', op, g.attempt),
      jsonb_build_object('op', op, 'token_hash', encode(sha256(uuid_send(g.token)), 'hex'))
    from g where g.refusal = 'lease_lost'
  )
  select g.task, g.refusal, g.attempt from g;
end $$;
comment on function weir._refuse is 'Why calls were not accepted; each lost lease becomes an event of type stale.';
