-- A person says how many devices of a PC may work at once; null: as the PC reports, or else as the policy says. What
-- runs goes on.
create or replace function weir.set_slots(pc text, slots int, by text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_slots.at);
  of_node int;
begin
  if set_slots.slots not between 0 and 1000 then
    perform weir._invalid('slots', '0 to 1000', hint => 'to keep a PC from work for a while, pause its node');
  end if;
  -- The PC's row, under which slots are counted.
  select n.id into of_node from weir.nodes n join weir.pcs p on p.node = n.id where n.name = set_slots.pc
  for no key update of n;
  if not found then
    perform weir._not_found('PC', set_slots.pc, hint => 'a node is a PC from its first report of devices on');
  end if;
  update weir.pcs p set slots = set_slots.slots where p.node = of_node and p.slots is distinct from set_slots.slots;
  if not found then
    return false;
  end if;
  insert into weir.events (at, type, kind, subject, source, message)
  values (t, 'set', 'pc', set_slots.pc, set_slots.by,
    coalesce(format('%s slots', set_slots.slots), 'slots as it reports'));
  perform pg_notify('weir_available', 'fleet');
  return true;
end $$;
comment on function weir.set_slots is 'How many devices of a PC work at once.';
