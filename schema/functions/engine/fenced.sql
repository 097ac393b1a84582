-- Holds the line for a leader's write: call it first in the transaction. An older epoch is refused (WR410), and no
-- other term can begin before this transaction ends. The leader itself may renew meanwhile: weir.lead takes the
-- stronger lock only to take over.
create or replace function weir.fenced(lock_name text, epoch bigint) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  now_epoch bigint;
begin
  select l.epoch into now_epoch from weir.system_locks l where l.lock_name = fenced.lock_name for key share;
  if now_epoch is distinct from fenced.epoch then
    perform weir._raise('WR410', null, 'epoch %s of %s is over, epoch %s leads',
      jsonb_build_array(fenced.epoch, fenced.lock_name, now_epoch));
  end if;
end $$;
comment on function weir.fenced is 'Refuses the writes of a leader whose term is over.';
