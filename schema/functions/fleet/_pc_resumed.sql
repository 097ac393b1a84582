-- The trigger of weir.nodes: a person let a node work again. A PC that was paused because it lost many devices at once
-- is not paused any more.
create or replace function weir._pc_resumed() returns trigger
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.pcs p set paused_until = null, pause_note = null where p.node = new.id and p.paused_until > new.mode_at;
  if found then
    perform pg_notify('weir_available', 'fleet');
  end if;
  return null;
end $$;
comment on function weir._pc_resumed is 'Ends the pause of a PC.';
