-- The English sentence of a reason: an object with its code and its arguments. weir._words has the sentence of each
-- code, with places: {pool} takes the argument of that name, {in:span} gives it a form, and what stands in [brackets]
-- is left out where an argument is missing. {command} is the command that is advised. With n = 1 the words of CODE.one
-- are used, where there are some. internal/reason does the same for all languages.
create or replace function weir._sentence(reason jsonb) returns text
language plpgsql stable strict parallel safe
set search_path = weir, pg_temp
as $$
declare
  code text := reason ->> 'code';
  words text := coalesce(case when reason -> 'n' = '1' then weir._words(code || '.one') end, weir._words(code), code);
  section text[];
  token text[];
  piece text;
  said text := '';
begin
  for section in select regexp_matches(words, '\[([^]]*)\]|([^[]+)', 'g') loop
    piece := '';
    for token in select regexp_matches(coalesce(section[1], section[2]), '\{(\w+)(?::(\w+))?\}|([^{]+)', 'g') loop
      piece := piece || coalesce(token[3], case when token[1] = 'command' then weir._words('command.' || code)
        else weir._format_argument(reason -> token[1], token[2]) end,
        case when section[1] is null then '?' end);
    end loop;
    said := said || coalesce(piece, '');
  end loop;
  return said;
end $$;
comment on function weir._sentence is 'A reason in English.';
