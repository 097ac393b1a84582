-- Ends leases that ran out, in batches, by anybody, on the database clock. The row itself says which attempt is meant.
-- A dead worker's task goes back to available without spending an attempt, but the third loss that is evidence against
-- the task ends it (weir._strike, R15), and so does the first loss of a task that must not run again by itself. An
-- attempt over its deadline is a failed attempt.
-- The caller goes on with weir._after_end for what ended and was freed. just: this task alone. A task that is set aside
-- is left alone, and so is one whose job somebody else holds: the next pass takes it.
create or replace function weir._expire(n int, t timestamptz, just uuid default null, out total int, out ended uuid[],
  out lanes text[], out pools text[])
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  r weir.running;
  strikes int;
  who text;
begin
  total := 0; ended := '{}'; lanes := '{}'; pools := '{}';
  for r in
    with late as materialized (
      select x.ctid as row from weir.running x where (x.until < t or x.deadline < t) and (just is null or x.task = just)
        and (select true from weir.set_aside s where s.task = x.task and s.next_at > t) is null
        and (x.job is null or (select true from weir.job_live j where j.job = x.job for update skip locked))
      limit n for update skip locked
    ), d as (
      delete from weir.running x where x.ctid = any (array(select late.row from late)) returning x.*
    ) select * from d order by d.task
  loop
    total := total + 1;
    if r.deadline < t or r.cancel_at is not null then
      lanes := lanes || array_remove(array[r.lane], null);
      pools := pools || array_remove(array[r.pool], null);
      if weir._fail(r, format('timed out after %s', weir._span(r.deadline - r.claimed_at)), false, null, t,
        'timeout') then
        ended := ended || r.task;
      end if;
      continue;
    end if;
    strikes := weir._strike(r);
    select w.name into who from weir.workers w where w.id = r.worker;
    if r.orphan_stops or strikes >= 3 then
      perform weir._left_pool(r.pool);
      perform weir._close(array[weir._finished_lease(r, 'failed',
        case when r.orphan_stops then format('worker %s was lost while it ran this; it is not run again by itself', who)
        else format('poison: %s workers were lost while they ran this, the last one %s', strikes, who) end, t)],
        reason => 'lost');
      ended := ended || r.task;
      lanes := lanes || array_remove(array[r.lane], null);
      pools := pools || array_remove(array[r.pool], null);
    else
      perform weir._give_up_lease(r, 'expired', format('worker %s was lost', who), t);
    end if;
  end loop;
end $$;
comment on function weir._expire is 'Ends leases that ran out: how many, which tasks ended, which keys they freed.';
