-- The fleet job after the active one, for a PC with an idle device that the active job does not need. Null: there is
-- none. plan: the caller holds the PC's row, so a job that has no units yet gets them; without it the job alone is an
-- answer.
create or replace function weir._fleet_overlap(of_node int, checked boolean, plan boolean, t timestamptz) returns uuid
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  next weir.fleet_jobs;
begin
  select * into next from weir.fleet_jobs j where j.state = 'waiting' order by j.priority desc, j.order_seq limit 1;
  if not found
    or not exists (select from weir.devices d
      where d.node = of_node and weir._device_reason(d, checked) is null
        and not exists (select from weir.running r where r.device = d.id)) then
    return null;
  end if;
  if next.planned_at is null then
    if not plan then
      return next.job;
    end if;
    perform pg_advisory_xact_lock(89, 0);
    perform from weir.job_live l where l.job = next.job for update;
    if not found then
      return null;
    end if;
    select * into next from weir.fleet_jobs j where j.job = next.job;
    if next.planned_at is null and not weir._fleet_plan(next.job, t) then
      return null;
    end if;
  end if;
  if exists (select from weir._fleet_pick(of_node, next.job, '{}', 1, checked, t))
    or exists (select from weir.fleet_units u
      where u.job = next.job and u.device is null and u.state in ('waiting', 'retrying')) then
    return next.job;
  end if;
  return null;
end $$;
comment on function weir._fleet_overlap is 'The next fleet job, for overlap.';
