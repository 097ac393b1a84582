-- Refuses a time that was not set by the owner of the schema.
create or replace function weir._set_clock(at timestamptz) returns timestamptz
language plpgsql stable
as $$
begin
  if not pg_has_role(session_user, (select n.nspowner from pg_namespace n where n.nspname = 'weir'), 'usage') then
    perform weir._invalid('at', 'only the owner of the schema may set the clock',
      hint => 'leave it out: the database clock decides');
  end if;
  perform weir._check(weir._bad_time('at', at),
    case when at < '1970-01-01 00:00:00+00' then weir._fault('at', 'before 1970, which no id can hold') end);
  return at;
end $$;
comment on function weir._set_clock is 'A time set by the owner, else WR422.';
