-- A report is a sign of life of its PC, and says how many slots it has. Nothing is written that is known.
create or replace function weir._pc_heartbeat(n weir.nodes, slots int, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  if n.seen_at < t - interval '5 s' then
    update weir.nodes x set seen_at = greatest(x.seen_at, t) where x.id = n.id;
  end if;
  if _pc_heartbeat.slots is not null
    and exists (select from weir.pcs p
      where p.node = n.id and p.reported_slots is distinct from _pc_heartbeat.slots) then
    -- Under the lock under which slots are counted.
    perform from weir.nodes x where x.id = n.id for no key update;
    update weir.pcs p set reported_slots = _pc_heartbeat.slots where p.node = n.id;
    insert into weir.events (at, type, kind, subject, message)
    values (t, 'set', 'pc', n.name, format('it reports %s slots', _pc_heartbeat.slots));
  end if;
  update weir.pcs p set reported_at = t, left_at = null
  where p.node = n.id and (p.reported_at < t - interval '30 s' or p.left_at is not null);
end $$;
comment on function weir._pc_heartbeat is 'Notes that a PC lives.';
