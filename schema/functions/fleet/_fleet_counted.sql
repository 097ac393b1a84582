-- Tasks of a fleet job were canceled or skipped, or the job is being canceled. Its units follow in the same
-- transaction: those whose task ended without having run again, and, once somebody canceled the job, all that wait.
create or replace function weir._fleet_counted() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  gone timestamptz;
begin
  update weir.fleet_units u
  set state = case when f.outcome = 'canceled' then 'canceled' else 'missed' end, cause = f.cause
  from (select o.task, f.outcome, f.cause
    from weir.fleet_units o, lateral (select f.outcome, f.cause from weir.finished f where f.task = o.task offset 0) f
    where o.job = new.job and o.state = 'retrying') f
  where u.task = f.task and u.state = 'retrying';
  select l.cancel_at into gone from weir.job_live l where l.job = new.job;
  if gone is not null
    and exists (select from weir.fleet_units u where u.job = new.job and u.state in ('waiting', 'retrying')) then
    perform weir._fleet_cancel_units(new.job, coalesce(
      (select e.message from weir.events e where e.job = new.job and e.kind = 'fleet' and e.type = 'cancel_requested'
        order by e.seq desc limit 1), 'canceled with its job'), gone);
  end if;
  return null;
end $$;
comment on function weir._fleet_counted is 'Trigger: units follow tasks that ended without having run.';
