-- An argument of a reason as it stands in its English sentence. An object is a reason of its own, an array a list of
-- them. A form that weir._words has as many.FORM counts: with 1 the words of many.FORM.one are used.
create or replace function weir._format_argument(value jsonb, form text) returns text
language plpgsql stable parallel safe
set search_path = weir, pg_temp
as $$
declare
  word text := value #>> '{}';
begin
  return case
    when word is null then null
    when weir._words('many.' || form) is not null then
      weir._sentence(jsonb_build_object('code', 'many.' || form, 'n', value))
    when jsonb_typeof(value) = 'object' then weir._sentence(value)
    when jsonb_typeof(value) = 'array' then
      (select string_agg(weir._format_argument(x.item, form), ', ' order by x.n)
        from jsonb_array_elements(value) with ordinality x (item, n))
    when form = 'span' then weir._span(make_interval(secs => word::float8))
    when form = 'time' then to_char(word::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')
    when form = 'minute' then to_char(word::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC')
    when form = 'clock' then to_char(word::timestamptz at time zone 'UTC', 'HH24:MI:SS UTC')
    when form = 'word' then coalesce(weir._words('word.' || word), word)
    else word end;
end $$;
comment on function weir._format_argument is 'An argument of a reason in English.';
