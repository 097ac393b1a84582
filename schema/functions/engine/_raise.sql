-- Refuses a call. The message is for people: the pattern with its places filled, after the field. The detail is for
-- programs, as JSON:
-- the field, the pattern, which is the key of the sentence in other languages, what stands in its places, as text, and
-- the command to run next, which follows the hint; data adds to it. See docs/decisions/0023-refusals.md.
-- label stands in the message where people call the field otherwise.
create or replace function weir._raise(code text, field text, pattern text, args jsonb default '[]',
  hint text default null, command text default null, data jsonb default '{}', label text default null) returns void
language plpgsql
as $$
declare
  words text[] := array(select weir._text(a) from jsonb_array_elements_text(args) with ordinality x (a, n) order by n);
  -- it may quote what it refuses
  message text := weir._text(concat_ws(': ', coalesce(label, field), format(pattern, variadic words)));
  detail text := data || jsonb_strip_nulls(jsonb_build_object('field', field, 'command', command))
    || jsonb_build_object('pattern', pattern, 'args', words);
begin
  if hint is null then
    raise exception using errcode = code, message = message, detail = detail;
  end if;
  raise exception using errcode = code, message = message, detail = detail, hint = concat_ws(': ', hint, command);
end $$;
comment on function weir._raise is 'Raises a refusal with its field, pattern and arguments.';
