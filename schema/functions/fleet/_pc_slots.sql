-- How many devices of a PC may work at once.
create or replace function weir._pc_slots(p weir.pcs) returns int
language sql stable
as $$ select coalesce(p.slots, p.reported_slots, (select f.slots from weir.fleet_policy f)) $$;
comment on function weir._pc_slots is 'The slots of a PC.';
