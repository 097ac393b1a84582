-- The server that carries a forward asks whether it may go on, and says by that that it does. Returns null, or the
-- code of the reason for which it has to end. refused: why the agent did not take it up.
create or replace function weir.forward_keep(id uuid, at timestamptz default null, out ends text, out refused text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(forward_keep.at);
  f weir.forwards;
  d weir.devices;
begin
  select * into f from weir.forwards x where x.id = forward_keep.id;
  if not found then
    ends := 'gone';
    return;
  end if;
  refused := f.refused;
  select * into d from weir.devices x where x.id = f.device;
  ends := case
    when d.node is distinct from f.node then 'moved'
    when d.health = 'retired' then 'retired'
    when not f.forced and not coalesce(weir._forward_held(d, f.person, t), false) then 'reservation'
    when exists (select from weir.nodes n join weir.pcs p on p.node = n.id where n.id = f.node
      and (n.seen_at < t - interval '45 s' or p.left_at is not null)) then 'agent' end;
  if ends is null and f.seen_at < t - interval '5 s' then
    update weir.forwards x set seen_at = t where x.id = f.id;
  end if;
end $$;
comment on function weir.forward_keep is 'Whether a forward may go on.';
