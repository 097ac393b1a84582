-- Gives tasks that were just revived another round of attempts and lets those go on that wait for no need.
create or replace function weir._restart_attempts(ended weir.finished[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  -- What they have used is forgiven: the count starts again.
  insert into weir.forgiven as g (task, returns)
  select e.task, least(e.attempt, weir._attempt_limit()) from unnest(ended) e
  on conflict (task) do update set crashes = 0, returns = excluded.returns, strikes = 0, places = '{}', faults = 0;
  perform weir._advance_and_open(array(select p.task from weir.pending p
      where p.task in (select e.task from unnest(ended) e) and p.gate = 'time'), t);
end $$;
comment on function weir._restart_attempts is 'Starts the count of attempts anew.';
