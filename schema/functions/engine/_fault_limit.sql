-- How often a task may be handed back because its node broke while the work ran. More of that costs attempts, because
-- work that fills every disk is not the fault of the disks.
create or replace function weir._fault_limit() returns int
language sql immutable parallel safe
as $$
  select 10
$$;
comment on function weir._fault_limit is 'Returns because of a broken node that cost a task nothing.';
