-- What happens to a held task that was not decided in time. An event that did not come leaves no result. The caller
-- holds the job.
create or replace function weir._expire_ask(of_task uuid, event text, late text, expires interval, t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  note text := case when _expire_ask.event is null then format('no decision within %s', weir._span(expires))
    else format('the event %s did not come within %s', _expire_ask.event, weir._span(expires)) end;
begin
  update weir.asks x set open = false where x.task = of_task;
  if late = 'fail' then
    perform weir._fail_held(of_task, note, 'expiry', t);
  elsif _expire_ask.event is not null then
    perform weir.decide(of_task, 'done', by => 'expiry', at => t);
  else
    perform weir.release(of_task, by => 'expiry', reason => note, at => t);
  end if;
end $$;
comment on function weir._expire_ask is 'Fails or releases a held task that was not decided in time.';
