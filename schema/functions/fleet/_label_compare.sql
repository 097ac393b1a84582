-- Compares two values of labels, as numbers or versions where they are: part by part, where a part that is missing is
-- 0, so 9 < 13, 1.9 < 1.10 and 13 = 13.0. Parts that are no numbers are compared as text. -1, 0 or 1.
create or replace function weir._label_compare(a text, b text) returns int
language plpgsql immutable parallel safe
as $$
declare
  whole constant text := '^-?[0-9]{1,30}$';
  x text[] := case when a ~ whole and b ~ whole then array[a] else regexp_split_to_array(a, '[-._+\s]') end;
  y text[] := case when a ~ whole and b ~ whole then array[b] else regexp_split_to_array(b, '[-._+\s]') end;
  p text;
  q text;
begin
  for i in 1 .. greatest(cardinality(x), cardinality(y)) loop
    p := coalesce(x[i], '0'); q := coalesce(y[i], '0');
    if p ~ whole and q ~ whole then
      if p::numeric <> q::numeric then
        return sign(p::numeric - q::numeric);
      end if;
    elsif p <> q then
      return case when p collate "C" < q collate "C" then -1 else 1 end;
    end if;
  end loop;
  return 0;
end $$;
comment on function weir._label_compare is 'Compares values of labels as numbers, versions or text.';
