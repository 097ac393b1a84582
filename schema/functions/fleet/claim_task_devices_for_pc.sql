-- The PC asks for work as the device queue's runner does: each row is a run on one of its idle devices, which runs from
-- now on. Never more than its target allows, whatever it asks for. The lease ends by itself unless it is renewed.
create or replace function fleet.claim_task_devices_for_pc(pc text, max_to_claim int default 1,
  lease interval default '45 s', at timestamptz default null)
  returns setof fleet.task_devices
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  got uuid[];
begin
  if max_to_claim <= 0 then
    return;
  end if;
  got := array(select c.task
    from weir.fleet_claim(claim_task_devices_for_pc.pc, claim_task_devices_for_pc.pc, max_to_claim,
      claim_task_devices_for_pc.lease, at => claim_task_devices_for_pc.at) c);
  if cardinality(got) > 0 then
    return query select d.* from fleet.task_devices d where d.id = any (got) order by array_position(got, d.id);
  end if;
end $$;
comment on function fleet.claim_task_devices_for_pc is 'Leases runs to a PC for its idle devices.';
