-- What is wrong with the name of a fault of a node; null: nothing.
create or replace function weir._bad_fault(fault text) returns jsonb
language sql immutable parallel safe
as $$
  select case when fault not in ('no_driver', 'engine_away', 'disk_full', 'folder_gone', 'no_memory') then
    weir._fault('fault', '%L is none of no_driver, engine_away, disk_full, folder_gone, no_memory', left(fault, 100))
  end
$$;
comment on function weir._bad_fault is 'What is wrong with the name of a fault; null: nothing.';
