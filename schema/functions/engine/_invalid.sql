-- Refuses bad input. Every message names the field and the fix.
create or replace function weir._invalid(message text, hint text default null) returns void
language plpgsql
as $$
begin
  message := weir._text(message); -- it may quote what it refuses
  if hint is null then
    raise exception using errcode = 'WR422', message = message;
  end if;
  raise exception using errcode = 'WR422', message = message, hint = hint;
end $$;
comment on function weir._invalid is 'Raises WR422.';
