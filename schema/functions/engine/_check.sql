-- Refuses a call if one of these is wrong: what weir._bad_time, weir._bad_span, weir._bad_text and weir._bad_count say
-- of each value.
create or replace function weir._check(variadic wrong jsonb[]) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  first jsonb := (select w from unnest(wrong) w where w is not null limit 1);
begin
  if first is not null then
    perform weir._invalid(first ->> 'field', first ->> 'pattern', first -> 'args');
  end if;
end $$;
comment on function weir._check is 'Raises WR422 for the first value that is wrong.';
