-- A part of weir.tend after an error: each task by itself, so that the one to blame is set aside and all others go on.
-- doing: expire or due. A lock that is not free is not waited for, and after twenty of them the rest waits for the next
-- pass.
create or replace function weir._tend_singly(doing text, n int, t timestamptz, out total int, out lanes text[],
  out pools text[], out opened int)
language plpgsql
set search_path = weir, pg_temp
set lock_timeout = '20ms'
as $$
#variable_conflict use_column
declare
  id uuid;
  step record;
  locked int := 0;
begin
  total := 0; lanes := '{}'; pools := '{}'; opened := 0;
  for id in
    select x.task from weir.running x where doing = 'expire' and (x.until < t or x.deadline < t)
      and (select true from weir.set_aside s where s.task = x.task and s.next_at > t) is null
    union all
    (select p.task from weir.pending p where doing = 'due' and p.gate = 'time' and p.run_at <= t
      and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null order by p.run_at)
    limit n
  loop
    begin
      if doing = 'expire' then
        select l.total, l.lanes, l.pools, 0 as opened into step from weir._tend_leases(1, t, id) l;
      else
        select d.total, d.lanes, d.pools, d.opened into step from weir._open_due(1, t, id) d;
      end if;
      total := total + step.total;
      lanes := lanes || step.lanes;
      pools := pools || step.pools;
      opened := opened + coalesce(step.opened, 0);
    exception
      when lock_not_available then
        locked := locked + 1;
        exit when locked = 20;
      when others then
        perform weir._set_aside(id, doing, sqlstate, sqlerrm, t);
    end;
  end loop;
end $$;
comment on function weir._tend_singly is 'Ends leases or opens time gates one by one, whatever one of them does.';
