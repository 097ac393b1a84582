-- How many devices of a PC may work at once, so that its agent asks for as many. Null: there is no such PC.
create or replace function weir.pc_slots(pc text) returns int
language sql stable security definer
set search_path = weir, pg_temp
as $$ select weir._pc_slots(p) from weir.nodes n join weir.pcs p on p.node = n.id where n.name = pc_slots.pc $$;
comment on function weir.pc_slots is 'The slots of a PC.';
