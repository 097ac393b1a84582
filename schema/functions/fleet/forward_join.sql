-- The server that carries a forward has the agent's end of it. From here on it is in the timeline of the device.
-- False: the forward is no more.
create or replace function weir.forward_join(id uuid, at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(forward_join.at);
  f weir.forwards;
begin
  update weir.forwards x set joined_at = t, seen_at = t where x.id = forward_join.id and x.joined_at is null
  returning * into f;
  if not found then
    return false;
  end if;
  insert into weir.events (at, type, kind, subject, source, message, data)
  select t, 'forwarded', 'device', d.serial, f.source, format('to port %s', f.port),
    jsonb_build_object('id', f.id, 'by', f.person, 'port', f.port, 'forced', f.forced)
  from weir.devices d where d.id = f.device;
  return true;
end $$;
comment on function weir.forward_join is 'A forward was taken up by the agent.';
