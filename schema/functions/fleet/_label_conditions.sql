-- Refuses a list of conditions on labels, with the field that it stands in, unless each can be read.
create or replace function weir._label_conditions(conditions jsonb, field text) returns void
language plpgsql immutable
as $$
declare
  bad text;
begin
  if jsonb_typeof(conditions) is distinct from 'array' or jsonb_array_length(conditions) not between 1 and 50
    or exists (select from jsonb_array_elements(conditions) c where jsonb_typeof(c) <> 'string') then
    perform weir._invalid(field, 'expected 1 to 50 conditions', hint => 'for example ["android>=13"]');
  end if;
  select c into bad from jsonb_array_elements_text(conditions) c
  where (select p.key from weir._label_condition(c) p) is null limit 1;
  if bad is not null then
    perform weir._invalid(field, '%s is no condition on labels', jsonb_build_array(left(bad, 100)),
      hint => 'write android>=13, model in (a, b), not tag=old; operators are = != >= > <= < in, not in');
  end if;
end $$;
comment on function weir._label_conditions is 'WR422 unless they are conditions on labels.';
