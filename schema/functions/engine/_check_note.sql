-- Refuses an event that no worker may write: one with the name of a transition, of an unknown level, or too large.
create or replace function weir._check_note(type text, data jsonb, level text) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  if coalesce(_check_note.type, '') = '' or length(_check_note.type) > 100
    or exists (select from weir.transition x where x.event = _check_note.type)
    or _check_note.type in ('stale', 'started') then
    perform weir._invalid('type', '%L is not a name for an event of your own', jsonb_build_array(_check_note.type),
      hint => 'the names of transitions belong to the engine');
  end if;
  if coalesce(_check_note.level, 'info') not in ('debug', 'info', 'warn', 'error') then
    perform weir._invalid('level', 'debug, info, warn or error');
  end if;
  if pg_column_size(_check_note.data) > 65536 then
    perform weir._invalid('data', 'over 64 KiB; put it into an artifact or the log');
  end if;
end $$;
comment on function weir._check_note is 'Raises WR422 for an event that a worker may not write.';
