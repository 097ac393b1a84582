-- Takes a condition on labels apart; null: it is none. Forms: KEY, KEY OP VALUE with = != >= > <= <, KEY in (A, B),
-- KEY not in (A, B); each with not before it. The parts are key, op, the values and whether it is turned round.
create or replace function weir._label_condition(condition text, out key text, out op text, out list text[],
  out turned boolean)
language sql immutable parallel safe
as $$
  select m[2], case when m[4] is not null then m[4] when m[7] is not null then 'in' else 'has' end,
    case when m[4] is not null then array[btrim(m[5])] when m[7] is not null then
      array(select btrim(v) from unnest(string_to_array(m[8], ',')) v) end,
    (m[1] is not null) <> (m[6] is not null)
  from regexp_match(condition, '^\s*(not\s+)?([^\s=<>!(),]{1,100})'
    '((?:\s*(>=|<=|!=|=|>|<)\s*([^\s=<>!][^=<>!]*))|(?:\s+(not\s+)?(in)\s*\(([^()]+)\)))?\s*$') m
  where m is not null and length(condition) <= 500
$$;
comment on function weir._label_condition is 'The parts of a condition on labels, or null.';
