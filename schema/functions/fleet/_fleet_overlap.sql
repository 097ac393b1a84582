-- The fleet jobs after the active ones that an idle device of a PC could serve, for overlap: of the first ten that
-- wait, in their order, so that one that wants other devices keeps none behind it from working. Empty: there is none.
-- plan: the caller holds the PC's row, so a job that has no units yet gets them, one job for each claim; without it a
-- job that wants an idle device of the PC is an answer.
create or replace function weir._fleet_overlap(of_node int, checked boolean, plan boolean, t timestamptz)
returns uuid[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  most constant int := 10;
  next weir.fleet_jobs;
  found_jobs uuid[] := '{}';
  planned boolean := false;
begin
  for next in
    select * from weir.fleet_jobs j where j.state = 'waiting' order by j.priority desc, j.order_seq limit most
  loop
    continue when not exists (select from weir.devices d
      where d.node = of_node and weir._device_reason(d, checked) is null
        and weir._fleet_matches(next.spec -> 'target', d.serial, d.labels)
        and not exists (select from weir.running r where r.device = d.id));
    if next.planned_at is null then
      if not plan then
        return array[next.job];
      end if;
      continue when planned;
      perform pg_advisory_xact_lock(89, weir._fleet_lane_key(next.lane));
      perform from weir.job_live l where l.job = next.job for update;
      continue when not found;
      planned := true;
      select * into next from weir.fleet_jobs j where j.job = next.job;
      continue when next.planned_at is null and not weir._fleet_plan(next.job, t);
    end if;
    if exists (select from weir._fleet_pick(of_node, array[next.job], '{}', 1, checked, t))
      or exists (select from weir.fleet_units u
        where u.job = next.job and u.device is null and u.state in ('waiting', 'retrying')) then
      found_jobs := found_jobs || next.job;
      if not plan then
        return found_jobs;
      end if;
    end if;
  end loop;
  return found_jobs;
end $$;
comment on function weir._fleet_overlap is 'The next fleet jobs, for overlap.';
