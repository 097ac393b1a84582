-- Who did it and why, in one line.
create or replace function weir._note(did text, by text, reason text) returns text
language sql stable
as $$
  select weir._text(concat_ws(': ', did || ' by ' || coalesce(nullif(by, ''), session_user::text), nullif(reason, '')))
$$;
comment on function weir._note is 'Who did it and why.';
