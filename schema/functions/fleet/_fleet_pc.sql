-- The node of a PC that reports. It is a PC from its first report on, and a node too if it was none.
create or replace function weir._fleet_pc(pc text, slots int, t timestamptz) returns weir.nodes
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  n weir.nodes;
begin
  select * into n from weir.nodes x where x.name = _fleet_pc.pc;
  if not found then
    if coalesce(_fleet_pc.pc, '') = '' or length(_fleet_pc.pc) > 200 then
      perform weir._invalid('pc', 'a PC has a name of 1 to 200 characters');
    end if;
    insert into weir.nodes as x (name, registered_at, seen_at, registered_by)
    values (_fleet_pc.pc, t, t, coalesce(weir._caller(), session_user))
    on conflict (name) do update set seen_at = excluded.seen_at returning * into n;
    insert into weir.events (at, type, kind, subject) values (t, 'registered', 'node', _fleet_pc.pc);
  end if;
  perform weir._own_node(n.name);
  insert into weir.pcs (node, reported_slots, reported_at)
  select n.id, _fleet_pc.slots, t where not exists (select from weir.pcs p where p.node = n.id) on conflict do nothing;
  return n;
end $$;
comment on function weir._fleet_pc is 'The node of a PC.';
