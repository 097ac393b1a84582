-- Writes what came of a firing, which the caller holds: its state, the events, and what the trigger did last. The
-- newest 1000 firings of a trigger are kept, besides those that are pending.
create or replace function weir._fired(of_trigger text, of_key text, became text, why jsonb, made uuid, t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  most constant int := 1000;
  from_job uuid;
begin
  update weir.firings f set state = became, reason = why, job = made
  where f.trigger = of_trigger and f.key = of_key returning f.source into from_job;
  insert into weir.events (at, type, kind, subject, job, level, message, data)
  values (t, case when became = 'started' then 'fired' else became end, 'trigger', of_trigger, made,
    case when became = 'failed' then 'error' end, weir._text(weir._sentence(why)),
    jsonb_strip_nulls(jsonb_build_object('key', of_key, 'source', from_job, 'job', made, 'reason', why)));
  if made is not null then
    update weir.triggers g set last_at = t, last_job = made where g.name = of_trigger;
  end if;
  if from_job is not null then
    insert into weir.events (at, type, kind, subject, job, source, level, message, data)
    values (t, 'triggered', 'job', from_job, from_job, 'trigger ' || of_trigger,
      case when became = 'failed' then 'error' end,
      coalesce(weir._text(weir._sentence(why)), format('started job %s', made)),
      jsonb_strip_nulls(jsonb_build_object('trigger', of_trigger, 'job', made, 'reason', why)));
  end if;
  delete from weir.firings f where f.trigger = of_trigger and f.state <> 'pending'
    and (f.at, f.key) < (select x.at, x.key from weir.firings x where x.trigger = of_trigger
      order by x.at desc, x.key desc offset most - 1 limit 1);
end $$;
comment on function weir._fired is 'Writes what came of a firing.';
