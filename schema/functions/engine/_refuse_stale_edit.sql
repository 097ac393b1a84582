-- Refuses a change to a definition that somebody else changed since the caller read it. Seen null: the caller does not
-- care.
create or replace function weir._refuse_stale_edit(what text, name text, seen timestamptz, is_at timestamptz)
returns void
language plpgsql
as $$
begin
  if seen is distinct from is_at and seen is not null then
    perform weir._conflict('%s %L was changed by somebody else', jsonb_build_array(what, name),
      hint => 'read it again, then decide');
  end if;
end $$;
comment on function weir._refuse_stale_edit is 'Refuses a change to what somebody else changed meanwhile.';
