-- The chain of workflows that a trigger would close: that a run of the first leads, by triggers, to another run of it.
-- Null: there is none. except is the trigger that is being set, whose old edge does not count. Each workflow is looked
-- at once. A paused trigger counts, because it may go on.
create or replace function weir._trigger_ring(except_for text, after text, workflow text) returns text[]
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  seen text[] := array[_trigger_ring.workflow];
  came int[] := array[0];   -- the place in seen from which each was reached
  ring text[] := '{}';
  n text;
  i int := 1;
begin
  while i <= cardinality(seen) and seen[i] is distinct from _trigger_ring.after loop
    for n in select distinct g.workflow from weir.triggers g
      where g.after = seen[i] and g.name <> except_for order by 1 loop
      if n <> all (seen) then
        seen := seen || n;
        came := came || i;
      end if;
    end loop;
    i := i + 1;
  end loop;
  if i > cardinality(seen) then
    return null;
  end if;
  while i > 0 loop
    ring := seen[i] || ring;
    i := came[i];
  end loop;
  return _trigger_ring.after || ring;
end $$;
comment on function weir._trigger_ring is 'The ring of workflows that a trigger would close.';
