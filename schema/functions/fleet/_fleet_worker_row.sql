-- Writes to fleet.workers: a PC lives, and may say how many slots it has. The same row again is a heartbeat.
create or replace function weir._fleet_worker_row() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  t timestamptz := clock_timestamp();
  slots int;
begin
  if tg_op = 'DELETE' then
    perform weir._invalid(null, 'delete of fleet.workers: what ran at a PC is kept, and so is the PC',
      hint => 'for one that is gone for good', command => 'weir node delete NAME');
  end if;
  if tg_op = 'UPDATE' and new.pc_id <> old.pc_id then
    perform weir._invalid('pc_id', 'it is what a PC is known by', hint => 'insert the other PC');
  end if;
  if lower(new.status) <> 'online' and (tg_op = 'INSERT' or lower(new.status) <> old.status) then
    perform weir._invalid('status', '%L follows from the heartbeats of the PC, and from what people say of it',
      jsonb_build_array(new.status), hint => 'leave it out; to drain a PC', command => 'weir node drain NAME');
  end if;
  slots := case
    when tg_op = 'INSERT'
      or new.max_devices is distinct from old.max_devices then coalesce(new.max_devices, new.device_capacity)
    when new.device_capacity is distinct from old.device_capacity then new.device_capacity end;
  if slots not between 1 and 1000 then
    perform weir._invalid('max_devices', '1 to 1000');
  end if;
  perform weir._pc_heartbeat(weir._fleet_pc(new.pc_id, slots, t), slots, t);
  select * into new from fleet.workers w where w.pc_id = new.pc_id;
  return new;
end $$;
comment on function weir._fleet_worker_row is 'A heartbeat that is inserted into fleet.workers.';
