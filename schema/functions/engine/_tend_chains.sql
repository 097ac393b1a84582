-- The part of weir.tend for chains that were too long for the transaction that ended their first task: follows each on
-- for so many steps. A job that somebody else holds waits for the next pass, and one that cannot be settled is set
-- aside.
create or replace function weir._tend_chains(t timestamptz, out lanes text[], out pools text[])
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  of_job uuid;
  ended uuid[];
  step record;
begin
  lanes := '{}'; pools := '{}';
  for of_job in
    select distinct u.job from weir.unsettled u
    where (select true from weir.set_aside s where s.task = u.task and s.next_at > t) is null limit 5
  loop
    ended := array(select u.task from weir.unsettled u where u.job = of_job);
    begin
      perform from weir.job_live j where j.job = of_job for update skip locked;
      continue when not found and exists (select from weir.job_live j where j.job = of_job);
      delete from weir.unsettled u where u.task = any (ended);
      select * into step from weir._settle(ended, '{}', '{}', t, counted => true);
      lanes := lanes || step.lanes;
      pools := pools || step.pools;
    exception when others then
      perform weir._set_aside(e, 'settle', sqlstate, sqlerrm, t) from unnest(ended) e;
    end;
  end loop;
end $$;
comment on function weir._tend_chains is 'Goes on with chains that ended in part.';
