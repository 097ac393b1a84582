-- Says that a task came under -class, so that claims look at its number: the trigger of weir.available. Whoever brings
-- many says it once, because weir.came keeps what this transaction has said last; weir._mark_classes forgets it.
create or replace function weir._came_to_class() returns trigger
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  said text := current_setting('weir.came', true);
begin
  if split_part(said, ' ', 1) = new.class::text and split_part(said, ' ', 2)::bigint <= new.order_seq then
    return null;
  end if;
  insert into weir.class_moves (class, xid, low) values (-new.class, pg_current_xact_id()::text::bigint, new.order_seq);
  perform set_config('weir.came', new.class || ' ' || new.order_seq, true);
  return null;
end $$;
comment on function weir._came_to_class is 'Notes the number of a task that came under -class.';
