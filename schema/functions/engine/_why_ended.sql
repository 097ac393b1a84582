-- How a task ended, as a row of weir.why. The code is what the event of its end says (timeout, lost, infrastructure,
-- refused), else the outcome; the cause is what was said at that time. A cause that a person gave with a command says
-- the outcome itself.
create or replace function weir._why_ended(of_task uuid)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'ended', true, jsonb_build_object('cause', f.cause, 'code', case
      when f.outcome = 'failed' then coalesce((
        select e.data ->> 'reason' from weir.events e where e.task = of_task and e.type = 'failed' order by e.seq desc
          limit 1), 'failed')
      when f.outcome = 'canceled' and f.cause is not null or f.outcome = 'skipped' and f.passes then f.outcome || '_by'
      else f.outcome::text end), null::uuid, f.at
  from weir.finished f where f.task = of_task
$$;
comment on function weir._why_ended is 'How a task ended.';
